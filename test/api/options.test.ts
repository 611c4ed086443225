import { createServer } from 'pierhead'
import { expect, test } from 'vitest'
import type { ConnectOptions } from '../../src/app/connect/connect.ts'
import { createClient } from '../../src/client.ts'
import type { CallOptions } from '../../src/client/options.ts'
import type { RecoveryOptions } from '../../src/client/recovery-options.ts'
import type { Watched } from '../../src/client/watched.ts'
import { Apps, type AppsOptions, type AppUnit } from '../../src/extensions/app-registry.ts'
import { defineExtension, type ExtensionDefinition } from '../../src/extensions/define.ts'
import { health, type HealthOptions } from '../../src/extensions/health.ts'
import {
  connectGist,
  GistClient,
  type GistCallOptions,
  type GistConnectOptions,
} from '../../src/gist/client.ts'
import type { Hints, PromptOptions, ToolSpec } from '../../src/server/register.ts'
import type { TemplateDefinition } from '../../src/server/definitions.ts'
import {
  toListed,
  toResource,
  type ListedResource,
  type ResourceOptions,
} from '../../src/server/register-resource.ts'
import { testClient, type TestAnswers, type TestOptions } from '../../src/testing/test-client.ts'
import type { ClientTls } from '../../src/transport/tls/options.ts'

/** Every option of a type: the compiler refuses a table that lacks one. */
type Names<T> = Readonly<Record<keyof T, true>>

// oxfmt-ignore
const described = { title: true, description: true, icons: true, _meta: true, visible: true, scopes: true } as const
const tool: Names<ToolSpec<unknown>> = {
  ...described,
  input: true,
  output: true,
  hints: true,
  timeout: true,
  task: true,
}
const resource: Names<ResourceOptions<unknown>> = {
  ...described,
  name: true,
  mimeType: true,
  size: true,
  annotations: true,
  list: true,
}
// oxfmt-ignore
const listed: Names<ListedResource> = {
  variables: true, title: true, description: true, icons: true, _meta: true, name: true, mimeType: true, size: true,
  annotations: true,
}
const prompt: Names<PromptOptions<unknown>> = { ...described, args: true }
const hints: Names<Hints> = { readOnly: true, destructive: true, idempotent: true, openWorld: true }
// oxfmt-ignore
const connect: Names<ConnectOptions> = {
  client: true, revision: true, profile: true, answers: true, extensions: true, timeout: true, total: true, probe: true,
  headers: true, fetch: true, limits: true, recovery: true, auth: true, checkInput: true, inherit: true, tls: true,
  heartbeat: true, connections: true, framing: true, keys: true,
}
// oxfmt-ignore
const call: Names<CallOptions> = {
  timeout: true, total: true, signal: true, headers: true, auth: true, onProgress: true,
        onTask: true, idempotent: true, meta: true,
}
const recovery: Names<RecoveryOptions> = { tries: true, first: true, longest: true, timeouts: true }
const tls: Names<ClientTls> = { ca: true, cert: true, key: true, pin: true, servername: true }
const watch: Names<Watched> = { tools: true, prompts: true, resources: true, onReady: true, signal: true }
// oxfmt-ignore
const gist: Names<GistConnectOptions> = {
  version: true, cycle: true, capabilities: true, clientId: true, clientName: true, headers: true, fetch: true,
  timeout: true, total: true, limits: true,
}
// oxfmt-ignore
const gistCall: Names<GistCallOptions> = { mode: true, timeout: true, total: true, signal: true, onProgress: true, traceId: true }
// oxfmt-ignore
const testing: Names<TestOptions> = {
  revision: true, profile: true, auth: true, answers: true, extensions: true, timeout: true,
}
// oxfmt-ignore
const testAnswers: Names<TestAnswers> = { elicit: true, elicitUrl: true, sample: true, sampleTools: true, roots: true }
// oxfmt-ignore
const extension: Names<ExtensionDefinition<never, never, never>> = {
  id: true, about: true, methods: true, notices: true, settings: true, serve: true, client: true,
}
const healthy: Names<HealthOptions> = { checks: true, timeout: true }
const apps: Names<AppsOptions> = { allow: true, limit: true }
// oxfmt-ignore
const unit: Names<AppUnit> = {
  name: true, title: true, description: true, version: true, tools: true, start: true, stop: true,
}

const server = createServer({ name: 'options', version: '1', log: () => undefined })
server.tool('known', {}, () => 1)
const template = toResource('a://{b}', {}, () => '') as TemplateDefinition
const url = 'http://127.0.0.1:1/mcp'
const client = createClient(url)

/** Gives each of them an option that is like none of theirs, upon which all are named. */
test.each<readonly [string, Readonly<Record<string, true>>, (odd: never) => unknown]>([
  ['a tool', tool, (odd) => server.tool('a', odd, () => 1)],
  ['hints', hints, (odd) => server.tool('a', { hints: odd }, () => 1)],
  ['a resource', resource, (odd) => server.resource('a://b', odd, () => '')],
  ['an update', tool, (odd) => server.update('tool', 'known', odd)],
  ['a listed resource', listed, (odd) => toListed(template, odd, 1)],
  ['a prompt', prompt, (odd) => server.prompt('a', odd, () => '')],
  ['connect', connect, (odd) => createClient(url, odd)],
  ['connect recovery', recovery, (odd) => createClient(url, { recovery: odd })],
  ['connect tls', tls, (odd) => createClient('tls://127.0.0.1:1', { tls: odd }).open()],
  ['a call', call, (odd) => client.call('a', {}, odd)],
  ['watch', watch, (odd) => client.watch(odd).next()],
  ['connectGist', gist, (odd) => connectGist(url, odd)],
  ['a gist call', gistCall, (odd) => new GistClient(undefined as never).call('a', {}, odd)],
  ['testClient', testing, (odd) => testClient(server, odd)],
  ['answers of testClient', testAnswers, (odd) => testClient(server, { answers: odd })],
  ['defineExtension', extension, (odd) => defineExtension(odd)],
  ['health', healthy, (odd) => server.extend(health(odd))],
  ['apps', apps, (odd) => new Apps([], odd)],
  ['an app', unit, (odd) => new Apps([odd])],
])('the options of %s are those of its type', async (_, names, act) => {
  const run = async (): Promise<unknown> => act({ ['ß'.repeat(99)]: 1 } as never)
  const error = (await run().catch((thrown: unknown) => thrown)) as Error
  const named = /the options are (.*)$/.exec(error.message)?.[1]?.split(', ') ?? []
  expect(named.toSorted()).toEqual(Object.keys(names).toSorted())
})
