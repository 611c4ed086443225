import type { App } from '../../src/app/app.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Context } from '../../src/server/context.ts'
import { openHttp } from './connection-http.ts'
import { openMemory } from './connection-memory.ts'
import { openSse } from './connection-sse.ts'
import { openStdio } from './connection-stdio.ts'
import { openTcp } from './connection-tcp.ts'
import { openWs } from './connection-ws.ts'

export type AnyApp = App<Context>

export const TRANSPORTS = ['memory', 'stdio', 'http', 'sse', 'ws', 'tcp', 'tls', 'unix'] as const
export type Transport = (typeof TRANSPORTS)[number]

/** Receives a text from the server; `carrier` is the id of the request whose stream delivered it, if streams belong to requests. */
export type Receive = (text: string, carrier: string | undefined) => void

export interface ConnectionOptions {
  readonly revision: Revision
  readonly receive: Receive
}

/** The client side of a transport. */
export interface Connection {
  /** Sends one text; resolves when the transport has accepted it. */
  send(text: string): Promise<void>
  /** From now on also receives messages that belong to no request. */
  watch(): Promise<void>
  /** Cancels a request by means of the transport; false if that takes a notification. */
  abandon(idText: string): boolean
  close(): Promise<void>
}

/** Whether a transport supports a revision. */
export function carries(transport: Transport, revision: Revision): boolean {
  return transport !== 'sse' || revision !== '2026-07-28'
}

/** Connects to a server over a transport. */
export function openConnection(
  app: AnyApp,
  transport: Transport,
  options: ConnectionOptions,
): Promise<Connection> {
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
