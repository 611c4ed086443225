import { z } from 'zod'
import { connect } from '../../src/client.ts'
import type { LocalServer } from '../../src/client/target.ts'
import type { App, Context } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'
import type { Mistake, Scene } from './mistake.ts'

const app = ({ server }: Scene) =>
  server()
    .tool('a', { input: z.object({ n: z.number() }) }, ({ n }) => `${n}`)
    .tool('ask', {}, async (_, ctx) => (await ctx.elicit('?', z.object({ name: z.string() }))).action)

function called(
  wrote: string,
  args: readonly unknown[],
  problem: string | RegExp,
  fix: string | RegExp,
): Mistake {
  return {
    wrote,
    make: async (scene) => {
      const client = await scene.client(app(scene))
      return (client.call as (...given: unknown[]) => unknown).apply(client, [...args])
    },
    problem,
    fix,
  }
}

/** Two processes behind one address: the second gets what continues a call. */
function balanced(first: App, second: App): LocalServer {
  return {
    connect(options) {
      const [one, other] = [first.connect(options), second.connect(options)]
      const close = (): void => (one.close(), other.close())
      return { send: (text) => (text.includes('requestState') ? other : one).send(text), close }
    },
  }
}

const ask = async (_: unknown, { elicit }: Context): Promise<string> =>
  (await elicit('?', z.object({ name: z.string() }))).action

/** Mistakes in calls, and in what happens after a client or server is closed. */
export const calling: readonly Mistake[] = [
  called(
    "client.call('a', { n: '1' })",
    ['a', { n: '1' }],
    'arguments of tool "a" are invalid',
    /n: .*number/,
  ),
  called("client.call('a'), without arguments", ['a'], 'arguments of tool "a" are invalid', /n: /),
  called(
    "client.call({ name: 'a', arguments: { n: 1 } }), as in the official SDK",
    [{ name: 'a', arguments: { n: 1 } }],
    'the first argument is the name of the tool',
    "write call('add', { a: 1, b: 2 })",
  ),
  called("client.call('a', 1)", ['a', 1], 'arguments', /object/),
  called(
    "client.call('a', { n: 1n })",
    ['a', { n: 1n }],
    'arguments.n is a bigint',
    'send a number or a string',
  ),
  called(
    "client.call('a', { n: 1 }, { timout: 5 })",
    ['a', { n: 1 }, { timout: 5 }],
    '"timout"',
    'did you mean "timeout"?',
  ),
  called(
    "client.call('a', { n: 1 }, { timeout: '20 seconds' })",
    ['a', { n: 1 }, { timeout: '20 seconds' }],
    'not "20 seconds"',
    "'20s'",
  ),
  called(
    "client.call('a', { n: 1 }, { signal: controller })",
    ['a', { n: 1 }, { signal: new AbortController() }],
    'signal must be an AbortSignal',
    'not an object',
  ),
  called("client.call('ask') without answers", ['ask'], 'elicitation', 'answers: { elicit'),
  {
    wrote: 'client middleware without return',
    make: async (scene) => {
      const client = await scene.client(app(scene))
      client.use((async (_: unknown, next: () => Promise<unknown>) => void (await next())) as never)
      return client.call('a', { n: 1 } as never)
    },
    problem: 'middleware returned nothing for tools/call',
    fix: 'return next()',
  },
  {
    wrote: "client.setLogLevel('warn')",
    make: async (scene) => (await scene.client(app(scene))).setLogLevel('warn'),
    problem: 'there is no level "warn"',
    fix: /"warning"|the levels are/,
  },
  {
    wrote: "client.on('stat', listener)",
    make: async (scene) => (await scene.client(app(scene))).on('stat' as never, () => undefined),
    problem: 'no event "stat"',
    fix: 'did you mean "state"?',
  },
  {
    wrote: 'client.watch({})',
    make: async (scene) => (await scene.client(app(scene))).watch({}).next(),
    problem: 'watch: ',
    fix: '{ tools: true }',
  },
  {
    wrote: "client.watch({ resources: 'notes://all' })",
    make: async (scene) => (await scene.client(app(scene))).watch({ resources: 'a://b' as never }).next(),
    problem: 'resources must be',
    fix: 'list of URIs',
  },
  {
    wrote: 'client.call() after client.close()',
    make: async (scene) => {
      const client = await scene.client(app(scene))
      await client.close()
      return client.call('a', { n: 1 } as never)
    },
    problem: 'the client is closed',
    fix: 'Create a new client with connect()',
  },
  {
    wrote: 'client.call() after app.close(), in one process',
    make: async (scene) => {
      const server = app(scene)
      const client = await scene.client(server)
      await server.close()
      await client.call('a', { n: 1 } as never)
      return client.call('a', { n: 1 } as never)
    },
    problem: 'a client in this process uses the server after app.close()',
    fix: 'close its clients before it',
  },
  {
    wrote: 'connect(app) after app.close()',
    make: async (scene) => {
      const server = app(scene)
      await server.close()
      const client = await connect(server)
      scene.after(() => client.close())
      return client.call('a', { n: 1 } as never)
    },
    problem: 'a client in this process uses the server after app.close()',
    fix: 'close its clients before it',
  },
  {
    wrote: 'client.call() of a test client after close()',
    make: async (scene) => {
      const client = await testClient(app(scene))
      await client.close()
      return client.call('a', { n: 1 } as never)
    },
    problem: 'the client is closed',
    fix: 'Create a new client with connect()',
  },
  {
    wrote: 'requestState of another instance, without a common secret',
    make: async (scene) => {
      const [one, other] = [scene.server().tool('ask', {}, ask), scene.server().tool('ask', {}, ask)]
      const elicit = () => ({ action: 'accept' as const, content: { name: 'x' } })
      const client = await connect(balanced(one, other), { answers: { elicit } })
      scene.after(() => client.close())
      await client.call('ask').catch(() => undefined)
      return client.call('ask')
    },
    problem: 'warning: a client sent a requestState that this process did not issue',
    fix: 'the same secret, with createServer({ secret }) or PIERHEAD_SECRET',
  },
]
