import { createServer as createHttp } from 'node:http'
import { expect, test } from 'vitest'
import { listen } from '../../test/mounts/tour.ts'
import { BOTH, initialize } from '../../test/http/messages.ts'
import { createServer, openEndpoint, serviceOf } from './app.ts'
import { Mounts } from './mounts.ts'

/** Mounts whose endpoint cannot be opened at first, as when a file of the package cannot be loaded. */
function failing(): { readonly mounts: Mounts; readonly logged: string[]; readonly opened: () => number } {
  const logged: string[] = []
  let opened = 0
  const app = createServer({
    name: 'mounts',
    version: '1',
    log: (level, message, facts) =>
      void logged.push(`${level}: ${message}: ${(facts?.['error'] as Error | undefined)?.message}`),
  })
  const mounts = new Mounts(
    async (choice) => {
      if (++opened === 1) throw new Error('no such file')
      return openEndpoint(app, choice)
    },
    undefined,
    serviceOf(app),
  )
  return { mounts, logged, opened: () => opened }
}

const asked = { method: 'POST', body: initialize(), headers: { ...BOTH } }

const MOUNTED: Readonly<Record<string, (mounts: Mounts) => Promise<() => Promise<Response>>>> = {
  'app.node()': async (mounts) => {
    const url = await listen(createHttp(mounts.node({})))
    return () => fetch(url, asked)
  },
  'app.fetch': async (mounts) => () => mounts.fetch(new Request('http://localhost/mcp', asked)),
}

test.each(Object.entries(MOUNTED))(
  'if %s cannot be opened, it answers 500 with a reference, the log has the error, and the next request tries again',
  async (_, mount) => {
    const { mounts, logged, opened } = failing()
    const ask = await mount(mounts)
    const reply = await ask()
    expect([reply.status, reply.headers.get('content-type')]).toEqual([500, 'application/json'])
    const { error } = (await reply.json()) as { error: { code: number; message: string } }
    expect(error).toMatchObject({ code: -32603, message: expect.stringMatching(/reference [0-9a-f-]{36}/) })
    expect(logged).toEqual(['error: opening the mount failed: no such file'])
    expect((await ask()).status).toBe(200)
    expect((await ask()).status).toBe(200)
    expect([opened(), logged.length]).toEqual([2, 1])
  },
)
