import { expect } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const UPDATED = 'notifications/resources/updated'

function make(): ReturnType<typeof createServer> {
  return createServer({ name: 'watched', version: '1' })
    .tool('one', {}, () => 1)
    .prompt('one', {}, () => 'x')
    .resource('ships://anna', {}, () => 'at sea')
    .resource('ships://berta', {}, () => 'at sea')
    .resource('ships://fleet', {}, () => 'all')
    .resource('log://{day}', {}, () => 'calm')
}

/** The URIs that a client was told of, in order. */
function told(client: Client): unknown[] {
  return client.heard(UPDATED).map(({ uri }) => uri)
}

scenario(
  'each change of a resource is announced to the clients that watch it, and to no others [R176] [S2-3.1-2] [S2-3.4-2] [S2-3.4-3] [S2-3.6-1] [S2-15-6] [S3-5.2-4] [S3-7.2-3] [S3-9-8] [S4-8-6] [S3-5.2-3] [S2-13-S4]',
  make,
  async (client, _revision, { app, join }) => {
    const [second, third] = [await join(), await join()]
    await client.follow({ uris: ['ships://anna', 'log://monday'] })
    await second.follow({ uris: ['ships://anna'] })
    await third.follow({ uris: ['ships://berta'] })
    app.updated('ships://anna')
    app.updated('ships://berta')
    app.updated('log://tuesday')
    app.updated('log://monday')
    app.updated('ships://anna')
    await client.hear(UPDATED, 3)
    await second.hear(UPDATED, 2)
    await third.hear(UPDATED, 1)
    expect(told(client)).toEqual(['ships://anna', 'log://monday', 'ships://anna'])
    expect(told(second)).toEqual(['ships://anna', 'ships://anna'])
    expect(told(third)).toEqual(['ships://berta'])
  },
)

scenario(
  'whoever watches a resource hears of what lies below it [R176]',
  make,
  async (client, _revision, { app }) => {
    await client.follow({ uris: ['ships://fleet', 'ships://anna'] })
    app.updated('ships://fleet/1')
    app.updated('ships://fleets')
    app.updated('ships://fleet')
    app.updated('ships://anna')
    await client.hear(UPDATED, 3)
    expect(told(client)).toEqual(['ships://fleet/1', 'ships://fleet', 'ships://anna'])
  },
)

scenario(
  'a resource that is not for everybody is named only to those who watch it itself; above it, its parent has changed',
  () =>
    createServer({ name: 'watched', version: '1', log: () => undefined })
      .resource('box://a', {}, () => 'box')
      .resource('box://a/hidden', { visible: () => false }, () => 'hidden')
      .resource('box://a/seen', { visible: () => true }, () => 'seen')
      .resource('box://a/scoped', { scopes: ['x'] }, () => 'scoped')
      .resource('box://a/open', {}, () => 'open')
      .resource('box://a/{kind}/first', {}, () => 'open')
      .resource('box://a/by/{who}', { visible: () => false }, () => 'hidden')
      .resource('box://a/{kind}/last', {}, () => 'open'),
  async (client, _revision, { app }) => {
    await client.follow({ uris: ['box://a', 'box://a/seen'] })
    for (const name of ['hidden', 'seen', 'scoped', 'open', 'by/first', 'by/ann', 'undefined'])
      app.updated(`box://a/${name}`)
    await client.hear(UPDATED, 7)
    expect(told(client)).toEqual([
      'box://a',
      'box://a/seen',
      'box://a',
      'box://a/open',
      'box://a/by/first',
      'box://a',
      'box://a/undefined',
    ])
    // Nobody who may not use the hidden template gets this from the last one.
    app.updated('box://a/by/last')
    await client.hear(UPDATED, 8)
    expect(told(client).at(-1)).toBe('box://a')
  },
)

scenario(
  'a resource that is disabled is not named either, until it is enabled',
  () =>
    createServer({ name: 'watched', version: '1' })
      .resource('box://a', {}, () => 'box')
      .resource('box://a/one', {}, () => 'one')
      .resource('box://a/by/{who}', {}, () => 'two'),
  async (client, _revision, { app }) => {
    await client.follow({ uris: ['box://a'] })
    app.disable('resource', 'box://a/one').disable('resource', 'box://a/by/{who}')
    for (const name of ['one', 'by/ann']) app.updated(`box://a/${name}`)
    app.enable('resource', 'box://a/one').enable('resource', 'box://a/by/{who}')
    for (const name of ['one', 'by/ann']) app.updated(`box://a/${name}`)
    await client.hear(UPDATED, 4)
    expect(told(client)).toEqual(['box://a', 'box://a', 'box://a/one', 'box://a/by/ann'])
  },
)

scenario(
  'subscribing and unsubscribing answer with an empty result, and the last word counts [R175] [S2-3.4-1] [S2-3.4-4] [S2-3.5-1] [S3-5.2-3] [S2-3.1-1]',
  make,
  async (client, _revision, { app }) => {
    await client.follow({})
    expect(await client.request('resources/subscribe', { uri: 'ships://anna' })).toEqual({})
    expect(await client.request('resources/subscribe', { uri: 'ships://anna' })).toEqual({})
    expect(await client.request('resources/subscribe', { uri: 'ships://berta' })).toEqual({})
    app.updated('ships://anna')
    expect(await client.request('resources/unsubscribe', { uri: 'ships://anna' })).toEqual({})
    expect(await client.request('resources/unsubscribe', { uri: 'ships://none' })).toEqual({})
    app.updated('ships://anna')
    app.updated('ships://berta')
    await client.hear(UPDATED, 2)
    expect(told(client)).toEqual(['ships://anna', 'ships://berta'])
  },
  { until: '2025-11-25' },
)

scenario(
  'a subscription goes on through other requests and failures, and ends with its session [S2-3.4-4]',
  make,
  async (client, _revision, { app, join }) => {
    const before = serviceOf(app).changes.listeners
    const leaving = await join()
    for (const one of [client, leaving]) {
      await one.follow({ uris: ['ships://anna'] })
      await one.call('one')
      await refusal(one.call('none'))
    }
    app.updated('ships://anna')
    for (const one of [client, leaving]) await one.hear(UPDATED, 1)
    await leaving.close()
    await expect.poll(() => serviceOf(app).changes.listeners).toBeLessThanOrEqual(before + 1)
    app.updated('ships://anna')
    await client.hear(UPDATED, 2)
    expect([told(client).length, told(leaving).length]).toEqual([2, 1])
  },
)

scenario(
  'a resource that does not exist cannot be watched [R172] [R012]',
  make,
  async (client) => {
    const error = await refusal(client.request('resources/subscribe', { uri: 'ships://none' }))
    expect([error.code, error.message]).toEqual([-32002, 'resource "ships://none" does not exist'])
    expect((await refusal(client.request('resources/subscribe', {}))).code).toBe(-32602)
    expect((await refusal(client.request('resources/unsubscribe', { uri: 7 }))).code).toBe(-32602)
  },
  { until: '2025-11-25' },
)

scenario(
  'a listen request begins with what it honours and marks everything with its id [R228] [R229]',
  make,
  async (client, _revision, { app, transport }) => {
    const stop = new AbortController()
    const ids = [77, 'listen-a'] as const
    const filters = [
      {
        toolsListChanged: true,
        promptsListChanged: false,
        resourceSubscriptions: ['ships://anna', 'ships://none'],
      },
      { resourcesListChanged: true, promptsListChanged: true },
    ]
    for (const [at, id] of ids.entries()) {
      client
        .request('subscriptions/listen', { notifications: filters[at] }, { id, signal: stop.signal })
        .catch(() => undefined)
    }
    await client.until(() => ids.every((id) => client.acknowledged(id) !== undefined))
    expect(client.acknowledged(77)?.['notifications']).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['ships://anna'],
    })
    expect(client.acknowledged('listen-a')?.['notifications']).toEqual({
      resourcesListChanged: true,
      promptsListChanged: true,
    })
    app.updated('ships://berta')
    app.updated('ships://anna')
    app.tool('two', {}, () => 2)
    app.prompt('two', {}, () => 'x')
    app.resource('ships://carla', {}, () => 'new')
    await client.hear('notifications/resources/list_changed')
    await client.hear('notifications/prompts/list_changed')
    await client.hear('notifications/tools/list_changed')
    const of = (id: string | number): string[] =>
      client.notices
        .filter(({ params }) => (params['_meta'] as JsonObject)[META.subscriptionId] === id)
        .map(({ method }) => method)
    expect(of(77)).toEqual([
      'notifications/subscriptions/acknowledged',
      UPDATED,
      'notifications/tools/list_changed',
    ])
    expect(of('listen-a').toSorted()).toEqual([
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
      'notifications/subscriptions/acknowledged',
    ])
    expect(client.heard(UPDATED)).toEqual([{ uri: 'ships://anna', _meta: { [META.subscriptionId]: 77 } }])
    for (const { carrier, params } of client.notices) {
      const id = (params['_meta'] as JsonObject)[META.subscriptionId] as string | number
      expect(carrier).toBe(transport === 'http' ? JSON.stringify(id) : undefined)
    }
    stop.abort()
  },
  { since: '2026-07-28' },
)

scenario(
  'a listen request that asks for nothing ends at once with its id [R230] [R017] [R049]',
  make,
  async (client) => {
    const result = await client.request('subscriptions/listen', { notifications: {} }, { id: 5 })
    expect(result).toEqual({
      resultType: 'complete',
      _meta: { [META.subscriptionId]: 5, [META.serverInfo]: { name: 'watched', version: '1' } },
    })
    expect(client.acknowledged(5)?.['notifications']).toEqual({})
  },
  { since: '2026-07-28' },
)

scenario(
  'a cancelled listen hears nothing more, while another goes on [R229] [R194]',
  make,
  async (client, _revision, { app }) => {
    const stop = await client.follow({ uris: ['ships://anna'] })
    await client.follow({ uris: ['ships://berta'] })
    app.updated('ships://anna')
    await client.hear(UPDATED, 1)
    stop()
    while (serviceOf(app).changes.listeners > 1) await new Promise((resolve) => setImmediate(resolve))
    app.updated('ships://anna')
    app.updated('ships://berta')
    await client.hear(UPDATED, 2)
    expect(told(client)).toEqual(['ships://anna', 'ships://berta'])
  },
  { since: '2026-07-28' },
)

scenario(
  'what to listen to must be readable [R012]',
  make,
  async (client) => {
    const wrong: [JsonObject, string][] = [
      [{}, 'notifications is not an object'],
      [{ notifications: [] }, 'notifications is not an object'],
      [{ notifications: { toolsListChanged: 'yes' } }, 'notifications.toolsListChanged is not a boolean'],
      [
        { notifications: { resourceSubscriptions: 'x' } },
        'notifications.resourceSubscriptions is not a list of at most 1000 URIs',
      ],
      [
        { notifications: { resourceSubscriptions: [1] } },
        'notifications.resourceSubscriptions is not a list of at most 1000 URIs',
      ],
    ]
    for (const [params, reason] of wrong) {
      const error = await refusal(client.request('subscriptions/listen', params))
      expect([error.code, error.message]).toEqual([
        -32602,
        `invalid params for subscriptions/listen: ${reason}`,
      ])
    }
  },
  { since: '2026-07-28' },
)

scenario(
  'limits.tokenLength a listen request needs a short id, because every notification repeats it',
  createServer({ name: 'notes', version: '1', limits: { tokenLength: 50 } }),
  async (client) => {
    const ask = (id: string): Promise<unknown> =>
      client.request('subscriptions/listen', { notifications: {} }, { id })
    const fits = 'x'.repeat(50)
    expect(await ask(fits)).toMatchObject({ _meta: { 'io.modelcontextprotocol/subscriptionId': fits } })
    const error = await refusal(ask(`${fits}x`))
    expect([error.code, error.message]).toEqual([
      -32602,
      'invalid params for subscriptions/listen: the id of this request is longer than 50 characters, and every notification repeats it',
    ])
    expect((await refusal(client.request('none', {}, { id: `${fits}y` }))).code).toBe(-32601)
  },
  { since: '2026-07-28' },
)
