import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { defineExtension } from '../../src/extensions.ts'
import { createServer, type App } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'
import { joinWith } from './declare.ts'

const ID = 'com.example/tides'
const TURNED = `notifications/${ID}/turned`
const UPDATED = 'notifications/resources/updated'
let encoded = 0
let turn: (level: object) => void

const tides = defineExtension({
  id: ID,
  notices: ['turned'],
  serve: (_options: undefined, host) => {
    turn = (level) => host.notify('turned', { level, at: 'Bergen' })
  },
})

const createHarbour = (): App =>
  createServer({ name: 'many', version: '1', log: () => undefined })
    .resource('ships://{+name}', {}, () => 'a ship')
    .extend(tides())

scenario('a notice to many clients is encoded once', createHarbour, async (_official, revision, stage) => {
  const clients = []
  for (let each = 0; each < 4; each++) clients.push(await joinWith(stage, revision, ID))
  const ids = clients.map((client) => client.nextId())
  for (const [at, client] of clients.entries()) {
    if (client.hasSession) {
      await client.follow({})
      continue
    }
    const id = ids[at]!
    client.request('subscriptions/listen', { notifications: { [ID]: true } }, { id }).catch(() => undefined)
    await client.until(() => client.acknowledged(id) !== undefined)
  }
  encoded = 0
  turn({ toJSON: () => ++encoded })
  for (const [at, client] of clients.entries()) {
    const meta = { 'io.modelcontextprotocol/subscriptionId': ids[at] }
    expect(await client.hear(TURNED)).toEqual([
      { level: 1, at: 'Bergen', ...(client.hasSession ? {} : { _meta: meta }) },
    ])
  }
  expect(encoded).toBe(1)
})

scenario(
  'many clients that watch a resource, or its parent, each hear of it once',
  createHarbour,
  async (_official, revision, stage) => {
    const clients = []
    for (const uris of [['ships://a/b'], ['ships://a'], ['ships://a', 'ships://a/b'], ['ships://b']]) {
      const client = await joinWith(stage, revision, ID)
      await client.follow({ uris })
      clients.push(client)
    }
    stage.app.updated('ships://a/b')
    stage.app.updated('ships://b')
    const heard = []
    for (const client of clients) heard.push((await client.hear(UPDATED)).map(({ uri }) => uri))
    expect(heard).toEqual([['ships://a/b'], ['ships://a/b'], ['ships://a/b'], ['ships://b']])
  },
)

test('updated ignores a URI that is too long, and says so once', () => {
  const logged: string[] = []
  const app = createServer({
    name: 'long',
    version: '1',
    limits: { uriLength: 100 },
    log: (_level, message) => void logged.push(message),
  }).resource('notes://{+path}', {}, () => 'a note')
  const seen: string[] = []
  serviceOf(app).changes.watch('notes:', ({ uri }) => void seen.push(uri))
  for (let each = 0; each < 3; each++) app.updated(`notes://${String(each).repeat(100_000)}`)
  app.updated('notes://short')
  expect(seen).toEqual(['notes://short'])
  expect(logged).toHaveLength(1)
  expect(logged[0]).toContain('the URI is longer than 100 characters, so nobody is notified')
  expect(logged[0]!.length).toBeLessThan(300)
})
