import type { checkedLookup, Resolver } from '../checked-lookup.ts'

/** The head of a reply whose body is still to be read. */
export interface OpenReply {
  readonly status: number
  readonly headers: Headers
  readonly chunks: AsyncIterable<Uint8Array>
  /** Closes the connection. */
  cancel(): void
}

/** Sends requests to addresses that were checked. */
export interface Pinned {
  /** All addresses of a name; none if it does not resolve. */
  resolve(hostname: string, resolver?: Resolver): Promise<readonly string[]>
  /** A lookup for connections, which says what is wrong with an address before anything is sent to it. */
  lookup(
    faultOf: (address: string) => Error | undefined,
    resolver?: Resolver,
  ): ReturnType<typeof checkedLookup>
  send(
    request: Request,
    options: {
      /** Says what is wrong with an address, before anything is sent to it. */
      readonly faultOf: (address: string) => Error | undefined
      readonly signal: AbortSignal
      readonly resolver?: Resolver | undefined
    },
  ): Promise<OpenReply>
}

/** The reply of a `fetch`. */
export function openReply(response: Response): OpenReply {
  const reader = response.body?.getReader()
  return {
    status: response.status,
    headers: response.headers,
    chunks: chunksOf(reader),
    cancel: () => void reader?.cancel().catch(() => undefined),
  }
}

async function* chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
): AsyncGenerator<Uint8Array> {
  for (;;) {
    const chunk = await reader?.read()
    if (chunk?.value === undefined) return
    yield chunk.value
  }
}
