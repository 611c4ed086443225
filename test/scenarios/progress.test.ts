import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const PROGRESS = 'notifications/progress'
let late: (() => void) | undefined

const app = createServer({ name: 'works', version: '1' })
  .tool('work', {}, async (_, { progress }) => {
    progress(1)
    progress(2, 4)
    await Promise.resolve()
    progress(2, 4, 'not rising')
    progress(1.5)
    progress(Number.NaN)
    progress(3.5, 4, 'almost')
    late = () => progress(9, 9, 'too late')
    return 'done'
  })
  .prompt('ask', {}, (_, { progress }) => {
    progress(1, 1, 'thinking')
    return 'x'
  })

scenario(
  'progress rises under the token of its request and stops at completion [R190] [R191] [R192] [S2-4.5-2] [S2-9.4-13] [S4-14-5] [S2-4.3-2] [S2-4.5-1] [S2-13-S4]',
  app,
  async (client, revision) => {
    for (const progressToken of ['a-token', 7, 0]) {
      client.notices.length = 0
      const result = await client.call('work', {}, { meta: { progressToken } })
      expect(result['content']).toEqual([{ type: 'text', text: 'done' }])
      late?.()
      await client.settle()
      const message = revision === '2024-11-05' ? {} : { message: 'almost' }
      expect(client.heard(PROGRESS)).toEqual([
        { progressToken, progress: 1 },
        { progressToken, progress: 2, total: 4 },
        { progressToken, progress: 3.5, total: 4, ...message },
      ])
    }
  },
)

scenario('no progress is sent to a client that did not ask for it [R190]', app, async (client) => {
  await client.call('work')
  await client.get('prompts/get', { name: 'ask' })
  await client.settle()
  expect(client.notices).toEqual([])
})

scenario('a token is a string or an integer; anything else asks for nothing [R192]', app, async (client) => {
  for (const token of ['1.5', 'true', 'null', '{}', '["a"]']) {
    const text = client.requestText(
      client.nextId(),
      'tools/call',
      { name: 'work' },
      { meta: { progressToken: 'TOKEN' } },
    )
    await client.post(text.replace('"TOKEN"', token))
  }
  await client.settle()
  expect(client.notices).toEqual([])
})

scenario(
  'requests that share a token, or run side by side, are kept apart [S4-14-4] [R190] [R101]',
  app,
  async (client, _revision, { transport }) => {
    await Promise.all([
      client.call('work', {}, { id: 'x', meta: { progressToken: 'one' } }),
      client.call('work', {}, { id: 'y', meta: { progressToken: 'two' } }),
      client.get('prompts/get', { name: 'ask' }, { id: 'z', meta: { progressToken: 3 } }),
    ])
    for (const [token, id, values] of [
      ['one', '"x"', [1, 2, 3.5]],
      ['two', '"y"', [1, 2, 3.5]],
      [3, '"z"', [1]],
    ] as const) {
      const own = client.notices.filter(({ params }) => params['progressToken'] === token)
      expect(own.map(({ params }) => params['progress'])).toEqual(values)
      for (const { carrier } of own) expect(carrier).toBe(transport === 'http' ? id : undefined)
    }
    client.notices.length = 0
    const shared = { meta: { progressToken: 'shared' } }
    await Promise.all(['v', 'w'].map((id) => client.call('work', {}, { id, ...shared })))
    const told = client.heard(PROGRESS)
    expect(told.every(({ progressToken }) => progressToken === 'shared')).toBe(true)
    const values = told.map(({ progress }) => progress as number)
    expect(values.toSorted((one, other) => one - other)).toEqual([1, 1, 2, 2, 3.5, 3.5])
  },
)

scenario(
  'limits.tokenLength a progress token has its own limit, far below that of ids, because every report repeats it',
  createServer({ name: 'works', version: '1', limits: { tokenLength: 50 } }).tool(
    'work',
    {},
    (_, { progress }) => {
      progress(1)
      return 'done'
    },
  ),
  async (client) => {
    const progressToken = 'x'.repeat(50)
    await client.call('work', {}, { meta: { progressToken } })
    await client.settle()
    expect(client.heard(PROGRESS)).toEqual([{ progressToken, progress: 1 }])
    const error = await refusal(client.call('work', {}, { meta: { progressToken: `${progressToken}x` } }))
    expect([error.code, error.message]).toEqual([
      -32602,
      'invalid params for tools/call: the progress token is longer than 50 characters',
    ])
  },
)
