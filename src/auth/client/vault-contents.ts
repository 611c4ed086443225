import { isObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import { isStoredCredentials } from './stored-credentials.ts'
import type { StoredCredentials } from './vault.ts'

/** The entries of a vault, by key. */
export type Entries = Map<string, StoredCredentials>

/** A file whose version is higher was written by a later version of this package. */
const VERSION = 1

/** The text of a file with these entries. They form a list, since keys contain text from servers. */
export function toText(entries: Entries): string {
  const list = Array.from(entries, ([key, credentials]) => ({ key, credentials }))
  return `${JSON.stringify({ version: VERSION, entries: list }, undefined, 2)}\n`
}

/** The contents of a file. */
export interface Contents {
  readonly entries: Entries
  /** The number of entries that cannot be used. */
  readonly damaged: number
}

/** Reads the text of a file: its contents, `damaged`, or `later` if only a later version of this package can read it. */
export function fromText(text: string): Contents | 'damaged' | 'later' {
  if (text.trim() === '') return { entries: new Map(), damaged: 0 }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'damaged'
  }
  if (!isObject(value)) return 'damaged'
  const { version, entries } = value
  if (typeof version === 'number' && version > VERSION) return 'later'
  if (!Array.isArray(entries)) return 'damaged'
  const found: Entries = new Map()
  let damaged = 0
  for (const entry of entries as readonly unknown[]) {
    const { key, credentials }: JsonObject = isObject(entry) ? entry : {}
    if (typeof key === 'string' && isStoredCredentials(credentials)) found.set(key, credentials)
    else damaged++
  }
  return { entries: found, damaged }
}
