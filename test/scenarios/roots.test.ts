import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const app = createServer({ name: 'folders', version: '1' })
  .tool('roots', {}, async (_, { roots }) => JSON.stringify(await roots()))
  .tool('many', {}, async (_, { roots }) => {
    const asked = Array.from({ length: 1025 }, () => roots())
    return Promise.any(
      asked.map((one) =>
        one.then(
          () => Promise.reject(new Error('it was answered')),
          (error: Error) => error.message,
        ),
      ),
    )
  })
const ROOTS = [{ uri: 'file:///home/ada', name: 'Home' }, { uri: 'file:///tmp' }]

scenario(
  'the folders of the client are asked for and handed on [S2-15-3] [S4-5-8]',
  app,
  async (client) => {
    client.answer('roots/list', () => ({ roots: ROOTS }))
    expect((await client.call('roots'))['content']).toEqual([{ type: 'text', text: JSON.stringify(ROOTS) }])
    expect(client.questions).toEqual([{ method: 'roots/list', params: {} }])
    if (client.hasSession) await client.notify('notifications/roots/list_changed')
    await client.settle()
  },
  { capabilities: { roots: { listChanged: true } } },
)

scenario('a client without roots is not asked [R051] [R222] [R038] [R039]', app, async (client) => {
  if (client.hasSession) {
    const { isError, content } = await client.call('roots')
    expect(isError).toBe(true)
    expect(content).toEqual([
      { type: 'text', text: expect.stringContaining('the client cannot be asked for roots: ') as string },
    ])
  } else {
    const error = await refusal(client.call('roots'))
    expect([error.code, error.data]).toEqual([-32021, { requiredCapabilities: { roots: {} } }])
  }
  expect(client.questions).toEqual([])
})

scenario(
  'a session has a limited number of unanswered questions, and they are cancelled when their request ends',
  app,
  async (client) => {
    client.answer('roots/list', () => new Promise(() => undefined))
    const [{ text }] = (await client.call('many'))['content'] as [{ text: string }]
    expect(text).toBe('the client cannot be asked for roots/list: it has left 1024 questions unanswered')
    expect(client.questions).toHaveLength(1024)
    const cancelled = client.notices.filter(({ method }) => method === 'notifications/cancelled')
    expect(cancelled).toHaveLength(1024)
    client.answer('roots/list', () => ({ roots: ROOTS }))
    expect((await client.call('roots'))['content']).toEqual([{ type: 'text', text: JSON.stringify(ROOTS) }])
  },
  { capabilities: { roots: {} }, only: ['2025-11-25'], profiles: false },
)
