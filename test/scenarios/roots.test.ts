import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const app = createServer({ name: 'folders', version: '1' }).tool('roots', {}, async (_, { roots }) =>
  JSON.stringify(await roots()),
)
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
