import { onTestFinished } from 'vitest'
import type { AuthOption } from '../../src/app/auth.ts'
import { bearer, type BearerOptions } from '../../src/auth.ts'
import { createServer, type App, type ServerOptions } from '../../src/index.ts'
import type { HttpOptions } from '../../src/app/options.ts'
import type { Auth } from '../../src/rpc/call.ts'
import { headed } from '../http/messages.ts'

export const RESOURCE = 'https://mcp.example/mcp'

/** The callers of the tests by their tokens. */
export const CALLERS: Readonly<Record<string, Auth>> = {
  ann: { sub: 'ann', scopes: ['use', 'read'] },
  bob: { sub: 'bob', scopes: ['use'] },
  eve: { sub: 'eve', scopes: [] },
}

/** Knows the callers of the tests. */
export function people(options: BearerOptions = {}): ReturnType<typeof bearer> {
  return bearer((token) => (Object.hasOwn(CALLERS, token) ? CALLERS[token] : undefined), options)
}

/** The headers of a caller. */
export function as(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` }
}

/** What the servers of the tests report. */
export const reports: string[] = []

/** A server whose tools say who calls, some only to callers with scopes. */
export function server(auth?: AuthOption, more: Partial<ServerOptions> = {}): App {
  const log = (level: string, text: string, facts?: object): void =>
    void reports.push(`${level}: ${text} ${JSON.stringify(facts ?? {})}`)
  // Handlers of the tests may wait for clients that never come back.
  return createServer({ name: 'guarded', version: '1.0.0', log, auth, limits: { drainMs: 50 }, ...more })
    .tool('who', {}, (_, context) => context.auth?.sub ?? 'nobody')
    .tool('auth', {}, (_, context) => JSON.stringify(context.auth ?? null))
    .tool('read', { scopes: ['read'] }, () => 'a secret')
    .tool('write', { scopes: ['read', 'write'] }, () => 'written') as App
}

export interface Listening {
  readonly app: App
  readonly url: string
  readonly port: number
  /** The address for WebSocket. */
  readonly ws: string
}

/** Serves HTTP and WebSocket on a free port until the test is over. */
export async function listen(
  auth: AuthOption | undefined,
  options: HttpOptions = {},
  app: App = server(auth),
): Promise<Listening> {
  const running = await app.listen({
    http: { port: 0, sse: true, gist: true, ...options },
    ws: true,
    onUncaught: 'exit',
  })
  onTestFinished(() => app.close())
  const url = running.url as string
  return { app, url, port: Number(new URL(url).port), ws: running.addresses.ws as string }
}

/** Calls a tool at 2026-07-28. */
export function callTool(
  url: string,
  name: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { body, headers: own } = headed('tools/call', { name })
  return fetch(url, { method: 'POST', body, headers: { ...own, ...headers } })
}

/** The text that a tool returned. */
export async function textOf(reply: Response): Promise<string> {
  const { result } = (await reply.json()) as { result: { content: { text: string }[] } }
  return result.content[0]?.text as string
}
