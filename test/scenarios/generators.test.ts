import { expect } from 'vitest'
import { createServer, image, text, ToolError } from '../../src/index.ts'
import { scenario } from '../harness/scenario.ts'

let cleaned: () => void = () => undefined
const app = createServer({ name: 'streams', version: '1', log: () => undefined })
  .tool('steps', {}, function* () {
    yield 'one'
    yield [text('two'), image('AAAA', 'image/png')]
    yield { n: 3 }
  })
  .tool('later', {}, async function* () {
    yield 'one'
    await Promise.resolve()
    yield 'two'
    return 'all'
  })
  .tool(
    'typed',
    { output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
    async function* () {
      yield 'working'
      return { n: 1 }
    },
  )
  .tool('fails', {}, function* () {
    yield 'one'
    throw new ToolError('broke')
  })
  .tool('endless', {}, async function* (_, { signal }) {
    try {
      for (let at = 0; ; at++) {
        yield `step ${at}`
        await new Promise((resolve) => setImmediate(resolve))
      }
    } finally {
      if (signal.aborted) cleaned()
    }
  })

const PROGRESS = 'notifications/progress'

scenario('what a generator yields is the content of its result [R142]', app, async (client) => {
  expect(await client.call('steps')).toEqual({
    content: [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'text', text: '{"n":3}' },
    ],
    isError: false,
  })
  expect(await client.call('later')).toEqual({ content: [{ type: 'text', text: 'all' }], isError: false })
  expect(await client.call('fails')).toEqual({ content: [{ type: 'text', text: 'broke' }], isError: true })
  expect((await client.call('typed'))['content']).toEqual([{ type: 'text', text: '{"n":1}' }])
  expect(client.notices).toEqual([])
})

scenario(
  'and is told step by step to a client that asks for progress [R190] [R191]',
  app,
  async (client, revision) => {
    await client.call('steps', {}, { meta: { progressToken: 't' } })
    const message = (words: string): object => (revision === '2024-11-05' ? {} : { message: words })
    expect(client.heard(PROGRESS)).toEqual([
      { progressToken: 't', progress: 1, ...message('one') },
      { progressToken: 't', progress: 3, ...message('two') },
      { progressToken: 't', progress: 4, ...message('{"n":3}') },
    ])
  },
)

scenario('a cancelled generator is ended and cleans up [R194] [R127]', app, async (client) => {
  const ended = new Promise<void>((resolve) => (cleaned = resolve))
  const stop = new AbortController()
  const options = { signal: stop.signal, meta: { progressToken: 't' } }
  const called = client.call('endless', {}, options)
  called.catch(() => undefined)
  await client.hear(PROGRESS, 3)
  stop.abort()
  await ended
  await client.settle()
  const count = client.heard(PROGRESS).length
  await client.settle()
  expect(client.heard(PROGRESS)).toHaveLength(count)
  await expect(called).rejects.toThrow('aborted')
})
