import { createServer as createHttp } from 'node:http'
import { createServer as createNet, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, type App, type McpError } from '../../src/index.ts'
import type { ServerOptions } from '../../src/app/options.ts'
import { testClient } from '../../src/testing.ts'
import { BOTH, headed, initialize, message } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { send } from '../http/wire.ts'
import { listen } from '../mounts/tour.ts'
import { testSocket } from '../harness/sockets.ts'

/** A server whose hooks and handlers record when they run. */
function recorded(options: Partial<ServerOptions> = {}): { readonly app: App; readonly seen: string[] } {
  const seen: string[] = []
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const app = createServer({
    name: 'hooks',
    version: '1',
    log: (level, message, facts) =>
      void seen.push(`${level}: ${message} ${(facts?.['error'] as Error | undefined)?.message ?? ''}`.trim()),
    onStart: async () => {
      seen.push('starting')
      await turn()
      seen.push('started')
    },
    onStop: async () => {
      seen.push('stopping')
      await turn()
      seen.push('stopped')
    },
    ...options,
  })
  app.tool('see', {}, () => {
    seen.push('called')
    return 'seen'
  })
  return { app, seen }
}

const asked = (): Request =>
  new Request('http://localhost/mcp', { method: 'POST', body: initialize(), headers: BOTH })

const STARTED = ['starting', 'started']
const STOPPED = ['stopping', 'stopped']

const TRANSPORTS: Readonly<Record<string, object>> = {
  http: { http: { port: 0 } },
  ws: { ws: { port: 0 } },
  tcp: { tcp: { port: 0 } },
  unix: { unix: testSocket() },
}

test.each(Object.entries(TRANSPORTS))(
  'on %s, onStart has finished when listen resolves, and onStop when close does',
  async (name, transport) => {
    const { app, seen } = recorded()
    const running = await app.listen(transport)
    expect(seen).toEqual(STARTED)
    const client = await connect(Object.values(running.addresses)[0] as string)
    expect([name, await client.call('see', {})]).toEqual([name, 'seen'])
    await client.close()
    await running.close()
    expect(seen).toEqual([...STARTED, 'called', ...STOPPED])
    await running.closed
  },
)

test('onStop waits for running requests', async () => {
  const gate = new Gate()
  const { app, seen } = recorded()
  app.tool('wait', {}, async () => {
    gate.enter()
    await gate.opened
    seen.push('answered')
    return ''
  })
  const { url, close } = await app.listen({ http: { port: 0 } })
  const { body, headers } = headed('tools/call', { name: 'wait' })
  const reply = send(Number(new URL(url as string).port), { body, headers })
  await gate.entered
  const closed = close()
  gate.open()
  await Promise.all([closed, reply])
  expect(seen).toEqual([...STARTED, 'answered', ...STOPPED])
})

test('both run once for several listeners and mounts, onStop after the last has closed', async () => {
  const { app, seen } = recorded()
  const [one, two] = await Promise.all([
    app.listen({ http: { port: 0 } }),
    app.listen({ tcp: { port: 0 } }),
    app.fetch(asked()),
    app.fetchWith({ sessions: false })(asked()),
  ])
  await one.close()
  await two.close()
  expect(seen).toEqual(STARTED)
  await Promise.all([app.close(), app.close()])
  expect(seen).toEqual([...STARTED, ...STOPPED])
})

test('a server that listens again while it stops starts again, once onStop has finished', async () => {
  const gate = new Gate()
  const { app, seen } = recorded({
    onStop: async () => {
      seen.push('stopping')
      gate.enter()
      await gate.opened
      seen.push('stopped')
    },
  })
  const running = await app.listen({ http: { port: 0 } })
  const closing = running.close()
  await gate.entered
  const again = app.listen({ http: { port: 0 } })
  // Loading the code of the listener takes a few turns.
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(seen).toEqual([...STARTED, 'stopping'])
  gate.open()
  await closing
  await (await again).close()
  expect(seen).toEqual([...STARTED, ...STOPPED, ...STARTED, ...STOPPED])
})

test('an onStart that throws makes listen fail with that error; nothing stays open, and onStop does not run', async () => {
  const broken = new Error('no database')
  const { port } = await freePort()
  let fails = true
  const { app, seen } = recorded({
    onStart: async () => {
      if (fails) throw broken
    },
  })
  await expect(app.listen({ http: { port } })).rejects.toBe(broken)
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed')
  await app.close()
  expect(seen).toEqual([])
  fails = false
  const { close } = await app.listen({ http: { port } })
  await close()
  expect(seen).toEqual(STOPPED)
})

test('a hook may also be synchronous, and throw so', async () => {
  const { app } = recorded({
    onStart: () => {
      throw new TypeError('at once')
    },
  })
  await expect(app.listen({ http: { port: 0 } })).rejects.toThrow(TypeError)
})

test('invalid options of listen are reported before onStart runs', async () => {
  const { app, seen } = recorded()
  await expect(app.listen({ http: true, htp: {} } as object)).rejects.toThrow('did you mean "http"?')
  expect(seen).toEqual([])
})

test('if a port cannot be opened, onStop runs before listen fails', async () => {
  const taken = createNet()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const { app, seen } = recorded()
  const { port } = taken.address() as AddressInfo
  await expect(app.listen({ tcp: { port: 0 }, unix: testSocket(), http: { port } })).rejects.toThrow(
    `127.0.0.1:${port}`,
  )
  expect(seen).toEqual([...STARTED, ...STOPPED])
})

type Mounting = (app: App, onRequest?: () => void) => Promise<() => Promise<Response>>

const MOUNTS: Readonly<Record<string, Mounting>> = {
  'app.node()': async (app, onRequest = () => undefined) => {
    const url = await listen(createHttp(app.node()).prependListener('request', onRequest))
    return () => fetch(url, { method: 'POST', body: initialize(), headers: { ...BOTH } })
  },
  'app.fetch': async (app, onRequest = () => undefined) => {
    return () => (onRequest(), app.fetch(asked()))
  },
}

test.each(Object.entries(MOUNTS))(
  '%s runs onStart before it answers the first request, and onStop when the app closes',
  async (_, mount) => {
    const { app, seen } = recorded()
    const ask = await mount(app)
    expect(seen).toEqual([])
    const replies = await Promise.all([ask(), ask(), ask()])
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(seen).toEqual(STARTED)
    await app.close()
    expect(seen).toEqual([...STARTED, ...STOPPED])
    expect((await ask()).status).toBe(503)
    expect(seen).toEqual([...STARTED, ...STOPPED])
  },
)

test.each(Object.entries(MOUNTS))(
  'while onStart fails, %s answers 500 with a reference and the log has the error; the next request tries again',
  async (_, mount) => {
    let fails = true
    let requests = 0
    const gate = new Gate()
    const { app, seen } = recorded({
      onStart: async () => {
        await gate.opened
        // Until the second request waits, too: its code is loaded already.
        for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
        if (fails) throw new Error('no database')
      },
    })
    const ask = await mount(app, () => void (++requests === 2 && gate.open()))
    const [one, two] = await Promise.all([ask(), ask()])
    expect([one?.status, two?.status]).toEqual([500, 500])
    const replies = [await one?.text(), await two?.text()]
    expect(replies[0]).not.toContain('no database')
    const references = replies.map((reply) => /reference ([0-9a-f-]{36})/.exec(reply as string)?.[1])
    expect(references).toEqual([expect.any(String), references[0]])
    expect(seen).toEqual(['error: onStart failed no database'])
    fails = false
    expect((await ask()).status).toBe(200)
    await app.close()
    expect(seen.slice(-2)).toEqual(STOPPED)
  },
)

test.each(Object.entries(MOUNTS))('a %s that was never used neither starts nor stops', async (_, mount) => {
  const { app, seen } = recorded()
  await mount(app)
  await app.close()
  expect(seen).toEqual([])
})

test('an app that closes while a mount starts stops once it has started', async () => {
  const gate = new Gate()
  const { app, seen } = recorded({
    onStart: async () => {
      gate.enter()
      await gate.opened
    },
  })
  const reply = app.fetch(asked())
  await gate.entered
  const closed = app.close()
  gate.open()
  await closed
  expect(seen).toEqual(STOPPED)
  expect((await reply).status).toBe(503)
})

test('a client in the same process starts the server, and stops it if it was the only one', async () => {
  const { app, seen } = recorded()
  const client = await testClient(app)
  expect(await client.call('see', {})).toBe('seen')
  const other = await testClient(app)
  await client.close()
  expect(seen).toEqual([...STARTED, 'called'])
  await other.close()
  expect(seen).toEqual([...STARTED, 'called', ...STOPPED])
})

/** Adds a tool that waits at a gate, also after it was cancelled, and says when it is finished. */
function gated({ app, seen }: ReturnType<typeof recorded>): Gate {
  const gate = new Gate()
  app.tool('wait', {}, async () => {
    gate.enter()
    await gate.opened
    seen.push('finished')
    return 'waited'
  })
  return gate
}

test('onStop waits for a handler whose client in the same process has closed', async () => {
  const server = recorded()
  const gate = gated(server)
  const client = await connect(server.app)
  const call = client.call('wait', {}).catch((error: McpError) => error.kind)
  await gate.entered
  const closed = client.close()
  expect(await call).toBe('closed')
  expect(server.seen).toEqual(STARTED)
  gate.open()
  await closed
  expect(server.seen).toEqual([...STARTED, 'finished', ...STOPPED])
})

test('app.close finishes the requests of clients in the same process, ends their connections, and then stops', async () => {
  const server = recorded()
  const { app, seen } = server
  const gate = gated(server)
  const client = await connect(app)
  onTestFinished(() => client.close())
  const states: string[] = []
  client.on('state', (state) => void states.push(state))
  const call = client.call('wait', {})
  await gate.entered
  const closed = app.close()
  expect(states).toEqual([])
  gate.open()
  expect(await call).toBe('waited')
  await closed
  expect([seen, states]).toEqual([[...STARTED, 'finished', ...STOPPED], ['reconnecting']])
})

test('a request of a client in the same process that outlasts limits.drainMs fails when the app closes', async () => {
  const server = recorded({ limits: { drainMs: 50 } })
  const gate = gated(server)
  const client = await connect(server.app)
  const call = client.call('wait', {}).catch((error: McpError) => error.kind)
  await gate.entered
  await server.app.close()
  expect([await call, server.seen]).toEqual(['connection_closed', [...STARTED, ...STOPPED]])
  gate.open()
  await client.close()
})

test('while an app closes, the requests of others may use clients in the same process', async () => {
  const server = recorded()
  const { app, seen } = server
  const gate = gated(server)
  const inner = await connect(app)
  onTestFinished(() => inner.close())
  app.tool('outer', {}, async () => {
    await inner.call('wait', {})
    return inner.call('see', {})
  })
  const { url } = await app.listen({ http: { port: 0 } })
  const client = await connect(url as string)
  onTestFinished(() => client.close())
  const call = client.call('outer', {})
  await gate.entered
  const closed = app.close()
  gate.open()
  expect(await call).toBe('seen')
  await closed
  expect(seen).toEqual([...STARTED, 'finished', 'called', ...STOPPED])
})

test('app.connect says when the server ends the connection, once, and not when the client does', async () => {
  const { app } = recorded()
  const ended: string[] = []
  const open = (name: string) =>
    app.connect({ receive: () => undefined, closed: () => void ended.push(name) })
  const [one, two] = [open('one'), open('two')]
  one.close()
  await app.close()
  expect(ended).toEqual(['two'])
  expect(() => two.send(message('ping'))).toThrow('closed')
  two.close()
  await app.close()
  expect(ended).toEqual(['two'])
})

test('messages that a client in the same process sends while the server starts are taken in their order', async () => {
  const { app, seen } = recorded()
  const ids: unknown[] = []
  await new Promise<void>((resolve) => {
    const end = app.connect({
      receive: (text) => {
        const { id } = JSON.parse(text) as { id: number }
        ids.push(id)
        if (id === 1) end.send(message('ping', {}, 4))
        if (id === 4) resolve()
      },
    })
    onTestFinished(() => end.close())
    for (const text of [initialize(), message('ping', {}, 2), message('ping', {}, 3)]) end.send(text)
    expect([ids, seen]).toEqual([[], []])
  })
  expect([ids, seen]).toEqual([[1, 2, 3, 4], STARTED])
})

test('a client in the same process gets an error with a reference if onStart fails', async () => {
  const { app, seen } = recorded({
    onStart: () => Promise.reject(new Error('no database')),
  })
  await expect(connect(app)).rejects.toThrow(/reference [0-9a-f-]{36}/)
  // The client opens a second time, without a handshake.
  expect(seen).toEqual(['error: onStart failed no database', 'error: onStart failed no database'])
})

test('an onStop that throws is reported, and close resolves', async () => {
  const { app, seen } = recorded({ onStop: () => Promise.reject(new Error('still busy')) })
  const { close } = await app.listen({ http: { port: 0 } })
  await close()
  expect(seen).toEqual([...STARTED, 'error: onStop failed still busy'])
})

test('an onStop that does not finish is given up after limits.drainMs', async () => {
  const { app, seen } = recorded({
    limits: { drainMs: 50 },
    onStop: () => new Promise<never>(() => undefined),
  })
  const { close } = await app.listen({ http: { port: 0 } })
  await close()
  expect(seen).toEqual([
    ...STARTED,
    'error: onStop did not finish within 50 ms (limits.drainMs); closing goes on',
  ])
})

test.each(['onStart', 'onStop'])('%s must be a function', (name) => {
  expect(() => createServer({ name: 'x', version: '1', [name]: 'x' })).toThrow(
    `createServer: ${name} must be a function`,
  )
})

async function freePort(): Promise<{ readonly port: number }> {
  const server = createNet()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return { port }
}
