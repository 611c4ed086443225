import { onTestFinished } from 'vitest'
import { createServer, type App, type HttpOptions, type Running } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { JSON_TYPE } from '../http/messages.ts'
import { send, stream, type Received, type Stream } from '../http/wire.ts'

export interface Started {
  readonly app: App
  readonly running: Running
  readonly port: number
  readonly url: string
}

/** Serves an app with the route for envelopes, until the test is over. */
export async function start(app: App = tools(), http: HttpOptions = {}): Promise<Started> {
  const running = await app.listen({ http: { port: 0, gist: true, ...http } })
  onTestFinished(() => running.close())
  const { origin, port } = new URL(running.url as string)
  return { app, running, port: Number(port), url: `${origin}/gist` }
}

/** Posts something to the route. */
export function post(
  port: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Received> {
  const body = typeof value === 'string' ? value : JSON.stringify(value)
  return send(port, { path: '/gist', body, headers: { ...JSON_TYPE, ...headers } })
}

/** Posts something and reads the reply as it comes. */
export function follow(port: number, value: JsonObject): Promise<Stream> {
  const headers = { ...JSON_TYPE, accept: 'application/json, text/event-stream' }
  return stream(port, { path: '/gist', body: JSON.stringify(value), headers })
}

/** An envelope that calls a tool. */
export function envelope(tool: string, args: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return { request_id: crypto.randomUUID(), tool_id: tool, arguments: args, ...more }
}

/** Does the handshake and gives back the descriptor. */
export async function shake(port: number, capabilities: readonly string[] = ['stream']): Promise<JsonObject> {
  const reply = await post(port, { mcp_version: '2025-11', capabilities })
  if (reply.status !== 200) throw new Error(`no session: ${reply.status} ${reply.text}`)
  return reply.json
}

/** A server with the tools that tests of the route need. */
export function tools(limits: Partial<Limits> = {}): App {
  const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
  const count = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] } as const
  const sum = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const
  return createServer({ name: 'wire', version: '1.0.0', limits, log: () => undefined })
    .tool(
      'echo',
      { title: 'Says it again', description: 'Gives back a text.', input: text },
      ({ text: said }) => said,
    )
    .tool('sum', { input: count, output: sum }, ({ count: all }) => ({ sum: all }))
    .tool('steps', { input: count }, async ({ count: steps }, { progress }) => {
      for (let step = 1; step <= steps; step++) {
        progress(step, steps, `step ${step}`)
        await new Promise((resolve) => setImmediate(resolve))
      }
      return 'done'
    })
}
