import { setImmediate } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import type { App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { LATEST, type Revision } from '../../src/protocol/revisions.ts'
import { shown, type Entry } from './play.ts'
import { asked, opened, type HttpSwitch } from './revision-scripts.ts'

interface Post {
  readonly headers: Readonly<Record<string, string>>
  readonly message: JsonObject
  /** Goes away before the answer. */
  readonly leaves?: true
}

function post(revision: Revision, message: JsonObject, more: Readonly<Record<string, string>> = {}): Post {
  const { name } = (message['params'] ?? {}) as JsonObject
  const named = typeof name === 'string' ? { 'mcp-name': name } : {}
  const method = { 'mcp-method': String(message['method']), 'mcp-protocol-version': LATEST, ...named }
  return { message, headers: { ...(revision === LATEST ? method : {}), ...more } }
}

/** For each switch that only HTTP shows the requests of a client. */
export const HTTP_SCRIPTS: Readonly<Record<HttpSwitch, (revision: Revision) => readonly Post[]>> = {
  paramHeaders: (revision) => [
    ...opened(revision).map((message) => post(revision, message)),
    post(revision, asked(revision, 2, 'tools/call', { name: 'route', arguments: { region: 'west' } })),
    post(revision, asked(revision, 3, 'tools/call', { name: 'route', arguments: { region: 'west' } }), {
      'mcp-param-region': 'west',
    }),
  ],
  disconnect: (revision) => [
    ...opened(revision).map((message) => post(revision, message)),
    { ...post(revision, asked(revision, 2, 'tools/call', { name: 'linger' })), leaves: true },
    post(revision, asked(revision, 3, 'tools/call', { name: 'lingered' })),
  ],
  priming: (revision) => [
    ...opened(revision).map((message) => post(revision, message)),
    post(revision, asked(revision, 2, 'tools/call', { name: 'count', _meta: { progressToken: 'far' } })),
  ],
}

/** Sends requests over HTTP and writes down what they and their replies said. */
export async function exchange(app: App, posts: readonly Post[]): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  let session: string | null = null
  for (const { message, headers, leaves } of posts) {
    const stop = new AbortController()
    const given = session === null ? {} : { 'mcp-session-id': session }
    const replied: Promise<Response> = app.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...given,
          ...headers,
        },
        body: JSON.stringify(message),
        signal: stop.signal,
      }),
    )
    entries.push({ client: { headers, message } })
    if (leaves === true) {
      await vi.waitFor(() => expect(serviceOf(app).load.running).toBe(1))
      stop.abort()
      await Promise.race([replied.catch(() => undefined), turns(20)])
      continue
    }
    const response = await replied
    session ??= response.headers.get('mcp-session-id')
    entries.push({ status: response.status }, { server: shown(await response.text()) })
  }
  await app.close()
  return entries
}

/** Time enough for what is under way in this process. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}
