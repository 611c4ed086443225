import { onTestFinished } from 'vitest'
import { openEndpoint } from '../../src/app/app.ts'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { listenHttp } from '../../src/transport/http/server/listen.ts'
import { serveWs } from '../../src/transport/ws/server.ts'
import type { WsSessions } from '../../src/transport/ws/sessions.ts'
import type { Gate } from '../http/server.ts'
import { relay, type Relay } from './relay.ts'

export interface Scene {
  readonly way: Relay
  readonly port: number
  readonly sessions: WsSessions
  close(): Promise<void>
  join(options?: ConnectOptions): Promise<Client>
}

const QUICK = { reconnectFirstMs: 5, reconnectMaxMs: 50, reconnectFloorMs: 1 }

/** A server, and a way to it that can be cut. */
export async function scene(app: App): Promise<Scene> {
  const endpoint = await openEndpoint(app, { hosts: ['loopback'], cors: [], sessions: false, sse: false })
  const server = await listenHttp(endpoint, { host: '127.0.0.1', port: 0, path: '/mcp', upgradesOnly: true })
  const taker = await serveWs(server.upgrades)
  server.upgrade('/mcp', taker)
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= server.close())
  onTestFinished(close)
  const way = await relay(server.port)
  const join = async (options: ConnectOptions = {}): Promise<Client> => {
    const limits = { ...QUICK, ...(options.limits as object) }
    const client = await connect(way.url, { revision: '2025-11-25', ...options, limits })
    onTestFinished(() => client.close())
    return client
  }
  return { way, port: server.port, sessions: taker.sessions, close, join }
}

export function server(limits: Partial<Limits> = {}): App {
  return createServer({ name: 'resumes', version: '1', log: () => undefined, limits })
}

/** How often a tool ran, and how often it was stopped. */
export interface Seen {
  runs: number
  stopped: number
}

/** A server with a tool that waits at a gate. */
export function waiting(gate: Gate, seen: Seen, limits?: Partial<Limits>): App {
  return server(limits).tool('wait', {}, async (_, { signal }) => {
    seen.runs++
    gate.enter()
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve))
    await Promise.race([gate.opened, stopped])
    if (signal.aborted) seen.stopped++
    return 'done'
  })
}
