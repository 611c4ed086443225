import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import { Door } from '../harness/door.ts'
import { settled } from '../harness/task-clock.ts'

const WITH_TASKS = { extensions: { [TASKS_EXTENSION]: {} } }
const ASKED = { elicitation: { form: {} } }
const named = z.object({ id: z.string() })

type Request = (id: string, more?: JsonObject) => Promise<JsonObject>

/** A client of ann that calls the tool `pay` at a revision. `heard` gets what the server sends besides responses. */
async function payer(
  app: App,
  revision: string,
  capabilities: JsonObject = {},
  heard: string[] = [],
): Promise<Request> {
  const waiting = new Map<unknown, (message: JsonObject) => void>()
  let next = 0
  const end = app.connect({
    receive: (text) => {
      const message = JSON.parse(text) as JsonObject
      if (typeof message['method'] === 'string') heard.push(message['method'])
      else waiting.get(message['id'])?.(message)
    },
    auth: { sub: 'ann' },
  })
  const request = async (method: string, params: JsonObject): Promise<JsonObject> => {
    const id = ++next
    const reply = new Promise<JsonObject>((resolve) => waiting.set(id, resolve))
    end.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    const { result, error } = (await reply) as { result?: JsonObject; error?: JsonObject }
    if (error !== undefined) throw Object.assign(new Error(String(error['message'])), error)
    return result as JsonObject
  }
  const isNew = revision === '2026-07-28'
  const meta = isNew
    ? { _meta: { [META.protocolVersion]: revision, [META.clientCapabilities]: capabilities } }
    : {}
  if (!isNew) {
    const clientInfo = { name: 'client', version: '1' }
    await request('initialize', { protocolVersion: revision, capabilities, clientInfo })
    end.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  }
  return (id, more = {}) => request('tools/call', { name: 'pay', arguments: { id }, ...meta, ...more })
}

function shop(door: Door, runs: string[], limits: JsonObject = {}): App {
  return createServer({ name: 'shop', version: '1', log: () => undefined, limits }).tool(
    'pay',
    { input: named, task: { after: '1h', key: ({ id }) => id } },
    async ({ id }, { signal }) => {
      runs.push(id)
      door.open(`${id} begun`)
      await Promise.race([door.pass(id), new Promise((resolve) => signal.addEventListener('abort', resolve))])
      return `paid ${id}`
    },
  ) as unknown as App
}

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']

test.each(REVISIONS)(
  'calls with the same key from clients without tasks at %s share one run',
  async (revision) => {
    const [door, runs, heard] = [new Door(), [] as string[], [] as string[]]
    const app = shop(door, runs)
    const [one, two] = [await payer(app, revision, {}, heard), await payer(app, revision, {}, heard)]
    const both = [one('a'), two('a')]
    await door.pass('a begun')
    await settled()
    door.open('a')
    for (const result of await Promise.all(both))
      expect(result).toMatchObject({ content: [{ text: 'paid a' }] })
    // Later ones, too, and those of clients with tasks.
    expect(await two('a')).toMatchObject({ content: [{ text: 'paid a' }] })
    const withTasks = await payer(app, '2026-07-28', WITH_TASKS)
    expect(await withTasks('a')).toMatchObject({ content: [{ text: 'paid a' }] })
    expect(runs).toEqual(['a'])
    // A client that does not know tasks hears of none.
    expect(heard).toEqual([])
    await app.close()
  },
)

test('a call that could be asked something runs alone, since a task could not ask its client', async () => {
  const [door, runs] = [new Door(), [] as string[]]
  const app = shop(door, runs)
  const pay = await payer(app, '2025-06-18', ASKED)
  for (let times = 0; times < 2; times++) {
    door.open('a')
    expect(await pay('a')).toMatchObject({ content: [{ text: 'paid a' }] })
  }
  expect(runs).toEqual(['a', 'a'])
  await app.close()
})

test.each(['2025-06-18', '2026-07-28'])(
  'a call with a key at %s that has no room for its task is rejected, and does not run',
  async (revision) => {
    const [door, runs] = [new Door(), [] as string[]]
    const app = shop(door, runs, { callerTasks: 1 })
    const pay = await payer(app, revision, revision === '2026-07-28' ? WITH_TASKS : {})
    door.open('a')
    await pay('a')
    await expect(pay('b')).rejects.toThrow(/task/)
    expect(runs).toEqual(['a'])
    await app.close()
  },
)
