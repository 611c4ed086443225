import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { subscriptions } from '../../src/extensions.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'
import { joinWith } from './declare.ts'

const ID = 'dev.pierhead/subscriptions'
const UPDATED = 'notifications/resources/updated'

function createWatched() {
  return createServer({ name: 'watched', version: '1' })
    .resource('a://{x}', {}, () => 'x')
    .extend(subscriptions)
}

scenario(
  'a client lists its own subscriptions and ends one by its URI [S2-9.4-12]',
  () => createWatched(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    const other = await joinWith(stage, revision, ID)
    await client.follow({ uris: ['a://one', 'a://two'] })
    await other.follow({ uris: ['a://three'] })
    const { subscriptions: found } = await client.get(`${ID}/list`)
    if (client.hasSession) {
      expect(found).toEqual([
        { kind: 'resource', uri: 'a://one' },
        { kind: 'resource', uri: 'a://two' },
      ])
    } else if (stage.transport === 'http') {
      // Nothing tells that two requests without authentication come from the same caller.
      expect(found).toEqual([])
      return
    } else {
      const notifications = { resourceSubscriptions: ['a://one', 'a://two'] }
      expect(found).toEqual([{ kind: 'stream', id: expect.any(Number), notifications }])
    }
    expect(await client.get(`${ID}/remove`, { uri: 'a://three' })).toEqual({ removed: 0 })
    expect(await client.get(`${ID}/remove`, { uri: 'a://one' })).toEqual({ removed: 1 })
    expect(JSON.stringify(await client.get(`${ID}/list`))).not.toContain('a://one')
    stage.app.updated('a://one')
    stage.app.updated('a://two')
    expect(await client.hear(UPDATED)).toMatchObject([{ uri: 'a://two' }])
  },
)

scenario(
  'a URI that is none, or too long, is refused',
  () => createWatched(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    for (const params of [{}, { uri: 3 }, { uri: 'a'.repeat(8193) }, { uri: null }])
      expect((await refusal(client.request(`${ID}/remove`, params))).code).toBe(-32602)
  },
)

test('at the newest revision over HTTP a caller is recognised by its identity, and sees no other', async () => {
  const app = createWatched()
  const serve = app.fetchWith({})
  const callerOf = (sub: string) =>
    connect('http://localhost/mcp', {
      extensions: [subscriptions],
      revision: '2026-07-28',
      fetch: (input, init) => serve(new Request(input as string, init), { auth: { sub } }),
    })
  const one = await callerOf('one')
  const two = await callerOf('two')
  const stop = await one.subscribe('a://x', () => undefined)
  expect((await subscriptions.of(one).list()).subscriptions).toMatchObject([
    { kind: 'stream', notifications: { resourceSubscriptions: ['a://x'] } },
  ])
  expect(await subscriptions.of(two).list()).toEqual({ subscriptions: [] })
  expect(await subscriptions.of(two).remove({ uri: 'a://x' })).toEqual({ removed: 0 })
  expect(await subscriptions.of(one).remove({ uri: 'a://x' })).toEqual({ removed: 1 })
  await stop()
  await one.close()
  await two.close()
  await app.close()
})
