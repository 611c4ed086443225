import { isObject } from '../protocol/jsonrpc.ts'

export type Fetch = typeof globalThis.fetch

/** Refusals that concern the credentials or the session (1011 to 1016) or its id (1026) rather than the request. */
const ABOUT_CALLER: ReadonlySet<unknown> = new Set([1011, 1012, 1013, 1014, 1015, 1016, 1026])
const MAX_CHARS = 1_048_576

/** Turns a reply with an error status into an ordinary one, if it contains the error that answers a request. */
export async function toOrdinaryReply(response: Response): Promise<Response> {
  const { headers, status, statusText } = response
  if (headers.get('content-type')?.startsWith('application/json') !== true) return response
  const text = await readText(response)
  const init = isAnswer(text) ? { status: 200 } : { status, statusText }
  return new Response(text, { ...init, headers })
}

/** The text of a reply, or the part read so far if it is too long for an error. */
async function readText({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += decoder.decode(part.value, { stream: true })
    if (text.length > MAX_CHARS) {
      await reader?.cancel()
      break
    }
  }
  return text + decoder.decode()
}

function isAnswer(text: string): boolean {
  const { id, error } = parsed(text)
  if (id === undefined || id === null || !isObject(error)) return false
  const { code, data } = error
  const refusal = isObject(data) && isObject(data['refusal']) ? data['refusal']['code'] : code
  return !ABOUT_CALLER.has(refusal)
}

function parsed(text: string): { readonly id?: unknown; readonly error?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
