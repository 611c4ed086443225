import { parseUrl } from '../protocol/url.ts'
import type { Framing } from './framing.ts'
import type { Command } from '../transport/stdio/launch.ts'
import type { Transport } from './rule.ts'
import type { Trace } from './trace.ts'
import { HttpWire } from './wire-http.ts'
import { Programs } from './programs.ts'
import { connectSocket } from './wire-socket.ts'
import { SseWire } from './wire-sse.ts'
import { WsWire } from './wire-ws.ts'
import type { Wire } from './wire.ts'

/** A way to a server: opens as many connections as the checks need. */
export interface Door {
  readonly transport: Transport
  /** The address, over HTTP. */
  readonly url?: URL | undefined
  /** Headers of the user, such as a token. */
  readonly headers?: Readonly<{ [name: string]: string }> | undefined
  /** The headers for other paths beside the address, which may belong to others. Default: those for the address. */
  readonly headersBeside?: Readonly<{ [name: string]: string }> | undefined
  /** Throws if the server cannot be reached. */
  open(trace: Trace, ms: number): Promise<Wire>
  /** Ends what is left of it. */
  close?(): Promise<void>
}

/** A URL without the user and password in it, and the header that they stand for. Throws if they are not encoded properly. */
export function splitUrl(url: URL): { readonly url: URL; readonly authorization: string | undefined } {
  if (!/^(?:http|ws)s?:$/.test(url.protocol) || (url.username === '' && url.password === ''))
    return { url, authorization: undefined }
  const bare = parseUrl(url.href)
  bare.username = ''
  bare.password = ''
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return { url: bare, authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` }
}

/** What a door to a URL may have besides it. */
export interface UrlDoorOptions {
  /** Whether the server speaks the older HTTP+SSE. Default: `false`. */
  readonly isOlder?: boolean | undefined
  /** How messages are separated on a socket. Default: `lines`. */
  readonly framing?: Framing | undefined
}

/** The ways to a server at a URL. A user and password in it become a header, so that only requests with the headers of the user have them. */
export function urlDoor(
  address: URL,
  given: Readonly<{ [name: string]: string }>,
  { isOlder = false, framing }: UrlDoorOptions = {},
): Door {
  const { url, authorization } = splitUrl(address)
  const isChosen = Object.keys(given).some((name) => name.toLowerCase() === 'authorization')
  const headers = authorization === undefined || isChosen ? given : { ...given, authorization }
  switch (url.protocol) {
    case 'ws:':
    case 'wss:':
      return { transport: 'ws', url, headers, open: (trace, ms) => WsWire.open(url, headers, trace, ms) }
    case 'http:':
    case 'https:':
      return isOlder
        ? { transport: 'sse', url, headers, open: (trace, ms) => SseWire.open({ url, headers, trace, ms }) }
        : {
            transport: 'http',
            url,
            headers,
            open: async (trace, ms) => new HttpWire({ url, headers, trace, ms }),
          }
    default:
      return { transport: 'tcp', url, open: (trace, ms) => connectSocket(url, { trace, ms, framing }) }
  }
}

/** The way to a program, which is started for each connection. */
export function programDoor(command: Command): Door {
  const programs = new Programs(command)
  return { transport: 'stdio', open: (trace) => programs.open(trace), close: () => programs.close() }
}
