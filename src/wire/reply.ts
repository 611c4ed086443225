import { idText, type ErrorObject, type RequestId } from '../protocol/jsonrpc.ts'

/** The text of a reply that carries a sealed result. */
export function sealReply(id: RequestId, resultText: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${resultText}}`
}

/** The text of an error reply; without an id when the id of the request could not be read. */
export function sealError(id: RequestId | undefined, error: ErrorObject): string {
  const about = id === undefined ? '' : `"id":${idText(id)},`
  return `{"jsonrpc":"2.0",${about}"error":${errorText(error)}}`
}

/** Data that cannot be written is left out: an error must always reach whoever waits for it. */
function errorText(error: ErrorObject): string {
  try {
    return JSON.stringify(error)
  } catch {
    const { code, message } = error
    return JSON.stringify({ code, message })
  }
}
