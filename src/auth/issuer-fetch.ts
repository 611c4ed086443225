import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'

/** How long an issuer may take for one document. */
const TIMEOUT_MS = 5000
/** The largest document that is read. The documents of the large providers have a tenth of this. */
const MAX_BYTES = 262_144

/** An issuer did not give what is needed to verify a token, so nothing is known about the token. */
export class IssuerError extends Error {
  /** The status of its reply; absent if it did not reply. */
  readonly status: number | undefined

  constructor(message: string, options?: { readonly status?: number; readonly cause?: unknown }) {
    super(message, options)
    this.status = options?.status
  }
}

/** A request to an issuer. */
export interface IssuerRequest {
  readonly method?: 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Fetches a JSON object from an issuer. It follows no redirects, because they would lead to servers that nobody configured, and
 * limits the time and the size. It throws an `IssuerError`.
 */
export async function fetchObject(url: string, request: IssuerRequest = {}): Promise<JsonObject> {
  const { headers, ...rest } = request
  try {
    const response = await fetchTwice(url, {
      ...rest,
      headers: { accept: 'application/json, application/jwk-set+json', ...headers },
      // Workers know no `error` here; any status but 200 is an error below.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new IssuerError(`${url} replied with status ${response.status}`, { status: response.status })
    }
    return parse(await readText(response, url), url)
  } catch (thrown) {
    if (thrown instanceof IssuerError) throw thrown
    const { name, message } = thrown as Error
    const reason = name === 'TimeoutError' ? `took longer than ${TIMEOUT_MS} ms` : `failed: ${message}`
    throw new IssuerError(`${url} ${reason}`, { cause: thrown })
  }
}

function parse(text: string, url: string): JsonObject {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    // Undefined is not an object either.
  }
  if (isObject(document)) return document
  throw new IssuerError(`${url} replied with something other than a JSON object`, { status: 200 })
}

/** Tries again once, because the issuer may close an idle connection in the moment in which it is used again. */
function fetchTwice(url: string, request: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
  return fetch(url, request).catch((thrown: Error) => {
    if (request.signal.aborted) throw thrown
    return fetch(url, request)
  })
}

async function readText(response: Response, url: string): Promise<string> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let bytes = 0
  for (;;) {
    const chunk = await reader?.read()
    if (chunk?.value === undefined) return text + decoder.decode()
    bytes += chunk.value.byteLength
    if (bytes > MAX_BYTES) {
      await reader?.cancel()
      throw new IssuerError(`${url} replied with more than ${MAX_BYTES} bytes`)
    }
    text += decoder.decode(chunk.value, { stream: true })
  }
}
