import type { App } from '../../src/app/app.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Context } from '../../src/server/context.ts'
import { openHttp } from './line-http.ts'
import { openMemory } from './line-memory.ts'
import { openSse } from './line-sse.ts'
import { openStdio } from './line-stdio.ts'
import { openTcp } from './line-tcp.ts'
import { openWs } from './line-ws.ts'

export type AnyApp = App<Context>

export const TRANSPORTS = ['memory', 'stdio', 'http', 'sse', 'ws', 'tcp', 'tls', 'unix'] as const
export type Transport = (typeof TRANSPORTS)[number]

/** Takes a text from the server; `carrier` is the id text of the request whose stream brought it, where streams have one. */
export type Receive = (text: string, carrier: string | undefined) => void

export interface LineOptions {
  readonly revision: Revision
  readonly receive: Receive
}

/** The client's end of a transport: texts out, texts in. */
export interface Line {
  /** Sends one text; resolves when the transport took it. */
  send(text: string): Promise<void>
  /** From now on hears what belongs to no request. */
  watch(): Promise<void>
  /** Gives a request up in the way of the transport; false when only a notification can say so. */
  abandon(idText: string): boolean
  close(): Promise<void>
}

/** Whether a transport carries a revision. */
export function carries(transport: Transport, revision: Revision): boolean {
  return transport !== 'sse' || revision !== '2026-07-28'
}

/** Connects to a server over a transport. */
export function openLine(app: AnyApp, transport: Transport, options: LineOptions): Promise<Line> {
  switch (transport) {
    case 'memory':
      return openMemory(app, options)
    case 'stdio':
      return openStdio(app, options)
    case 'http':
      return openHttp(app, options)
    case 'sse':
      return openSse(app, options)
    case 'ws':
      return openWs(app, options)
    case 'tcp':
    case 'tls':
    case 'unix':
      return openTcp(app, transport, options)
  }
}
