import { Buffer, isUtf8 } from 'node:buffer'

/** The text of a line; undefined when it is not valid UTF-8. */
export function decodeLine(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? toText(bytes) : undefined
}

/** Decodes bytes even if they are not valid UTF-8. */
export function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
