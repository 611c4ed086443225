/** The parts of Node's dispatchers that are used here. */
interface Dispatcher {
  readonly isMockActive?: boolean
  dispatch(options: unknown, handler: Handler): boolean
}

type OnHeaders = (status: number, headers: readonly Uint8Array[], ...rest: readonly unknown[]) => unknown

interface Handler {
  onHeaders?: OnHeaders
}

/** Where Node keeps the dispatcher of `fetch`, which programs may replace. */
const CURRENT = Symbol.for('undici.globalDispatcher.1')
const global = globalThis as { readonly [CURRENT]?: Dispatcher }
/**
 * The platform's `fetch`. Node accepts five content codings in one reply. With two, a few hundred bytes keep its decoders busy for
 * minutes without any output, and neither a signal nor the end of the connection stops them. With six, the end of the reply ends
 * the process. So the connection is closed if a reply has more than one.
 */
export const platformFetch: typeof fetch = (input, init) => {
  // Node 20 loads `fetch` with the first use of this class.
  void globalThis.Headers
  return globalThis.fetch(
    input,
    global[CURRENT] === undefined ? init : Object.assign({}, init, { dispatcher }),
  )
}

const dispatcher: Dispatcher = {
  get isMockActive() {
    return current().isMockActive === true
  },
  dispatch(options, handler) {
    const { onHeaders } = handler
    if (onHeaders !== undefined)
      handler.onHeaders = (status, headers, ...rest) => {
        checkCodings(headers)
        return onHeaders.call(handler, status, headers, ...rest)
      }
    return current().dispatch(options, handler)
  },
}

function current(): Dispatcher {
  return global[CURRENT] as Dispatcher
}

/** Throws if a reply with these headers, names and values in turn, has too many codings. */
function checkCodings(headers: readonly Uint8Array[]): void {
  let codings = 0
  for (let at = 0; at < headers.length; at += 2)
    if (textOf(headers[at]).toLowerCase() === 'content-encoding')
      codings += textOf(headers[at + 1]).split(',').length
  if (codings <= 1) return
  const code = 'UND_ERR_HEADERS_OVERFLOW'
  throw Object.assign(new Error('the reply has more than one content coding'), { code })
}

function textOf(bytes: Uint8Array | undefined): string {
  return String(bytes)
}
