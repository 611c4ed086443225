import { onTestFinished } from 'vitest'
import { createServer, type App, type HttpOptions, type Running } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { initialize, JSON_TYPE, message } from '../http/messages.ts'
import { send, stream, type Received, type Stream } from '../http/wire.ts'

export interface Started {
  readonly app: App
  readonly running: Running
  readonly port: number
}

export const EVENTS = { accept: 'text/event-stream' }

/** A server with a tool for each thing that a test needs. */
export function tools(limits: Partial<Limits> = {}): App {
  const app = createServer({ name: 'old', version: '1', limits, log: () => undefined })
  app.tool('echo', { input: { type: 'object', properties: { text: { type: 'string' } } } }, (input) =>
    String(input.text),
  )
  app.tool(
    'fill',
    { input: { type: 'object', properties: { letters: { type: 'number' } } } },
    ({ letters }) => 'x'.repeat(Number(letters)),
  )
  return app
}

/** Serves an app on a port of its own until the test is over. */
export async function start(app: App = tools(), options: HttpOptions = {}): Promise<Started> {
  const running = await app.listen({ http: { port: 0, sse: true, ...options }, onUncaught: 'exit' })
  onTestFinished(() => running.close())
  return { app, running, port: Number(new URL(running.url as string).port) }
}

/** One client: its stream, and where its messages go. */
export class OldClient {
  readonly port: number
  readonly stream: Stream
  readonly path: string

  constructor(port: number, opened: Stream) {
    this.port = port
    this.stream = opened
    this.path = opened.events[0]?.data ?? ''
  }

  post(body: string, headers: Readonly<Record<string, string>> = {}): Promise<Received> {
    return send(this.port, { path: this.path, body, headers: { ...JSON_TYPE, ...headers } })
  }

  /** Messages that came on the stream. */
  get messages(): readonly JsonObject[] {
    return this.stream.events.filter(({ event }) => event === 'message').map(({ data }) => JSON.parse(data))
  }

  async answer(id: number): Promise<JsonObject> {
    const find = (): JsonObject | undefined => this.messages.find((one) => one['id'] === id)
    await this.stream.until(() => find() !== undefined)
    return find() as JsonObject
  }

  async shake(): Promise<this> {
    await this.post(initialize('2024-11-05'))
    await this.answer(1)
    await this.post(message('notifications/initialized'))
    return this
  }
}

export async function open(
  port: number,
  path = '/sse',
  headers: Readonly<Record<string, string>> = {},
): Promise<OldClient> {
  const opened = await stream(port, { method: 'GET', path, headers: { ...EVENTS, ...headers } })
  onTestFinished(() => opened.drop())
  await opened.until(({ events }) => events.length > 0)
  return new OldClient(port, opened)
}
