import type { Command } from '../transport/stdio/launch.ts'
import type { Transport } from './rule.ts'
import type { Trace } from './trace.ts'
import { HttpWire } from './wire-http.ts'
import { Programs } from './programs.ts'
import { connectSocket } from './wire-lines.ts'
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

/** The ways to a server at a URL: an HTTP server may also speak the older HTTP+SSE. */
export function urlDoor(url: URL, headers: Readonly<{ [name: string]: string }>, isOlder = false): Door {
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
      return { transport: 'tcp', url, open: (trace, ms) => connectSocket(url, trace, ms) }
  }
}

/** The way to a program, which is started for each connection. */
export function programDoor(command: Command): Door {
  const programs = new Programs(command)
  return { transport: 'stdio', open: (trace) => programs.open(trace), close: () => programs.close() }
}
