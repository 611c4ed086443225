import { createServer } from '../../src/index.ts'
import { postgres, redis } from '../../src/stores.ts'
import { testClient } from '../../src/testing.ts'
import type { Mistake } from './mistake.ts'

function created(wrote: string, options: object, problem: string | RegExp, fix: string | RegExp): Mistake {
  return { wrote, make: ({ server }) => server(options), problem, fix }
}

/** Mistakes in the options of a server and of the test client. */
export const options: readonly Mistake[] = [
  {
    wrote: 'createServer() without options',
    make: () => (createServer as (...none: unknown[]) => unknown)(),
    problem: 'createServer: expected an object',
    fix: "write createServer({ name: 'orders', version: '1.0.0' })",
  },
  {
    wrote: "createServer('orders', '1')",
    make: () => (createServer as (...args: unknown[]) => unknown)('orders', '1'),
    problem: 'createServer: expected an object',
    fix: "write createServer({ name: 'orders', version: '1.0.0' })",
  },
  created(
    'createServer({ version }) without a name',
    { name: undefined },
    'createServer: a server needs a name',
    "write createServer({ name: 'orders', version: '1.0.0' })",
  ),
  created(
    'createServer({ name }) without a version',
    { version: undefined },
    'createServer: a server needs a version',
    "write createServer({ name: 'orders', version: '1.0.0' })",
  ),
  created('version: 1', { version: 1 }, 'createServer: version', 'must be a string, not 1'),
  created(
    '{ instruction }',
    { instruction: 'x' },
    'there is no option "instruction"',
    'did you mean "instructions"?',
  ),
  created(
    '{ logging: {} }',
    { logging: {} },
    'there is no option "logging"',
    /did you mean "log|the options are/,
  ),
  created(
    '{ capabilities: { tools: {} } }, as in the official SDK',
    { capabilities: { tools: {} } },
    'capabilities must be a list',
    /leave it out|declared by itself|each element/,
  ),
  created(
    "{ capabilities: ['tool'] }",
    { capabilities: ['tool'] },
    '"tool" is not a capability',
    'use tools, resources',
  ),
  created(
    "{ revisions: ['2025-01-01'] }",
    { revisions: ['2025-01-01'] },
    '"2025-01-01" is not',
    "'2025-11-25' or '2026-07-28'",
  ),
  created(
    "{ revisions: '2025-11-25' }",
    { revisions: '2025-11-25' },
    'revisions must be a list',
    "write revisions: ['2025-11-25']",
  ),
  created('{ revisions: [] }', { revisions: [] }, 'revisions: name at least one revision', "'2025-11-25'"),
  created(
    "{ secret: 'short' }",
    { secret: 'short' },
    'secret: use at least 16 characters',
    /openssl rand|randomBytes/,
  ),
  created("{ ttl: '5 minutes' }", { ttl: '5 minutes' }, 'not "5 minutes"', "'2m'"),
  created('{ pageSize: 0 }', { pageSize: 0 }, 'pageSize must be', 'a whole number above 0'),
  created("{ limits: 'stict' }", { limits: 'stict' }, 'limits must be', "'strict'"),
  created(
    '{ limits: { httpByte: 1 } }',
    { limits: { httpByte: 1 } },
    '"httpByte"',
    'did you mean "httpBytes"?',
  ),
  created(
    "{ limits: { httpBytes: '1MB' } }",
    { limits: { httpBytes: '1MB' } },
    'limits.httpBytes',
    'it must be a positive number',
  ),
  created("{ transports: ['htpp'] }", { transports: ['htpp'] }, '"htpp" is not', "'stdio' or 'http'"),
  created('{ log: true }', { log: true }, 'log must be a function', '(level, message, facts) => …'),
  created("{ profile: 'erlmcp' }", { profile: 'erlmcp' }, 'profile', /pierhead\/profiles/),
  created("{ icons: 'icon.png' }", { icons: 'icon.png' }, 'icons must be a list', '{ src }'),
  created('{ limits: { drain: 5000 } }', { limits: { drain: 5000 } }, '"drain"', 'did you mean "drainMs"?'),
  created(
    '{ store: { ...redis(url), task: postgres(url).tasks } }',
    { store: { ...redis(), task: postgres().tasks } },
    'createServer store: there is no kind "task"',
    'did you mean "tasks"?',
  ),
  created(
    '{ store: { queue: redis(url) } }',
    { store: { queue: redis() } },
    'createServer store: there is no kind "queue"',
    'the kinds are sessions, events, tasks, changes, cache, rates, nodes',
  ),
  created(
    '{ store: { sessions: redis(url) } }',
    { store: { sessions: redis() } },
    'createServer store: sessions is a whole driver',
    'write sessions: redis(url).sessions',
  ),
  created(
    '{ store: { events: postgres(url) } }',
    { store: { events: postgres() } },
    'createServer store: events is a whole driver without events',
    'it keeps tasks, cache, rates',
  ),
  created(
    "{ store: { cache: 'redis://127.0.0.1' } }",
    { store: { cache: 'redis://127.0.0.1' } },
    'createServer store: cache is not a store',
    'write cache: redis(url).cache',
  ),
  created(
    '{ store: { tasks: postgres(url) } }',
    { store: { tasks: postgres() } },
    'createServer store: tasks is a whole driver',
    'write tasks: postgres(url).tasks',
  ),
  created('{ store: null }', { store: null }, 'store must be a driver of pierhead/stores', 'not null'),
  created(
    '{ store: redis(url).sessions }',
    { store: redis().sessions },
    'createServer store: this is a store of one kind',
    'write store: { sessions: redis(url).sessions }',
  ),
  created(
    '{ store: redis(url).cache }',
    { store: redis().cache },
    'createServer store: this is a store of one kind',
    'for several nodes store: redis(url)',
  ),
  {
    wrote: "redis(url, { prefix: 'films' })",
    make: () => (redis as (...args: unknown[]) => unknown)('redis://127.0.0.1', { prefix: 'films' }),
    problem: 'redis takes one argument',
    fix: 'write redis({ url, prefix })',
  },
  {
    wrote: "postgres(url, { schema: 'films' })",
    make: () => (postgres as (...args: unknown[]) => unknown)('postgres://127.0.0.1', { schema: 'films' }),
    problem: 'postgres takes one argument',
    fix: 'write postgres({ connectionString, schema })',
  },
  {
    wrote: "redis({ host: '10.0.0.7' })",
    make: () => redis({ host: '10.0.0.7' } as never),
    problem: 'there is no option "host"',
    fix: "write url: 'redis://host:6379'",
  },
  {
    wrote: 'app.tool(name, { retries: 3 }, …)',
    make: ({ server }) => server().tool('render', { retries: 3 } as never, () => 'done'),
    problem: 'there is no option "retries"',
    fix: 'write task: { retries: … }',
  },
  {
    wrote: 'testClient() without a server',
    make: () => (testClient as (...none: unknown[]) => unknown)(),
    problem: 'testClient',
    fix: 'testClient(app)',
  },
  {
    wrote: 'testClient(app, { revison })',
    make: ({ server }) => testClient(server(), { revison: '2025-11-25' } as never),
    problem: 'there is no option "revison"',
    fix: 'did you mean "revision"?',
  },
  {
    wrote: "testClient(app, { answers: { elicit: { action: 'accept' } } })",
    make: ({ server }) => testClient(server(), { answers: { elicit: { action: 'accept' } } } as never),
    problem: 'elicit must be',
    fix: 'a function or a list',
  },
]
