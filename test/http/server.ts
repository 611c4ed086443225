import { onTestFinished } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { toLimits } from '../../src/base/limits.ts'
import { Endpoint } from '../../src/transport/http/server/endpoint.ts'
import { listenHttp, type HttpServer } from '../../src/transport/http/server/listen.ts'
import { BOTH, initialize } from './messages.ts'
import { send, stream, type Received, type Stream } from './wire.ts'

export interface Started {
  readonly app: App
  readonly endpoint: Endpoint
  readonly server: HttpServer
  readonly port: number
}

export interface StartOptions {
  readonly limits?: Partial<Limits>
  readonly hosts?: readonly string[]
  readonly cors?: readonly string[]
  readonly sessions?: boolean
  readonly now?: () => number
  readonly path?: string
}

/** Serves an app on a port of its own until the test is over. */
export async function start(app: App = tools(), options: StartOptions = {}): Promise<Started> {
  const { limits = {}, hosts = ['loopback'], cors = [], sessions = true, now, path = '/mcp' } = options
  const endpoint = new Endpoint(serviceOf(app), {
    limits: toLimits(limits),
    hosts,
    cors,
    sessions,
    ...(now && { now }),
  })
  const server = await listenHttp(endpoint, { host: '127.0.0.1', port: 0, path })
  onTestFinished(() => server.close())
  return { app, endpoint, server, port: server.port }
}

/** A session of one client. */
export class Session {
  readonly port: number
  readonly headers: Readonly<Record<string, string>>

  constructor(port: number, headers: Readonly<Record<string, string>>) {
    this.port = port
    this.headers = headers
  }

  get id(): string {
    return this.headers['mcp-session-id'] as string
  }

  post(body: string, more: Readonly<Record<string, string>> = {}): Promise<Received> {
    return send(this.port, { body, headers: { ...this.headers, ...more } })
  }

  /** Posts a request and reads its reply as it comes. */
  stream(body: string, more: Readonly<Record<string, string>> = {}): Promise<Stream> {
    return stream(this.port, { body, headers: { ...this.headers, ...more } })
  }

  /** Opens the stream of the session, or goes on after an event. */
  get(lastEventId?: string): Promise<Stream> {
    const more = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    return stream(this.port, {
      method: 'GET',
      headers: { ...this.headers, accept: 'text/event-stream', ...more },
    })
  }

  delete(): Promise<Received> {
    return send(this.port, { method: 'DELETE', headers: this.headers })
  }
}

/** Does the handshake. */
export async function open(
  port: number,
  revision: string = '2025-11-25',
  capabilities: object = {},
): Promise<Session> {
  const reply = await send(port, { body: initialize(revision, { ...capabilities }), headers: BOTH })
  const id = reply.headers['mcp-session-id']
  if (typeof id !== 'string') throw new Error(`no session: ${reply.status} ${reply.text}`)
  return new Session(port, { ...BOTH, 'mcp-session-id': id, 'mcp-protocol-version': revision })
}

/** Lets a handler wait for the test. */
export class Gate {
  readonly opened: Promise<void>
  readonly entered: Promise<void>
  open: () => void = () => undefined
  enter: () => void = () => undefined

  constructor() {
    this.opened = new Promise((resolve) => (this.open = resolve))
    this.entered = new Promise((resolve) => (this.enter = resolve))
  }
}

/** A server with the few tools that every test of the wire needs. */
export function tools(): App {
  const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
  const count = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] } as const
  return createServer({ name: 'wire', version: '1.0.0', log: () => undefined })
    .tool('echo', { input: text }, ({ text: said }) => said)
    .tool('steps', { input: count }, async ({ count: steps }, { progress }) => {
      for (let step = 1; step <= steps; step++) {
        progress(step, steps)
        await new Promise((resolve) => setImmediate(resolve))
      }
      return 'done'
    })
}
