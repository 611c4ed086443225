import { expect } from 'vitest'
import { audio, createServer, embed, image, link, text } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { scenario } from '../harness/scenario.ts'

const bytes = new Uint8Array([0, 255, 16, 32])
const annotations = { audience: ['user' as const], priority: 1, lastModified: '2025-01-02T03:04:05Z' }
const _meta = { 'com.example/k': 1 }
const icons = [{ src: 'https://x.example/i.png' }]
const blocks = [
  text('words', { annotations, _meta }),
  image(bytes, 'image/png', { annotations, _meta }),
  audio(bytes, 'audio/ogg', { annotations: { priority: 0 }, _meta }),
  embed('note://1', 'inside', 'text/plain', { annotations, _meta }),
  embed('bin://1', bytes, 'application/pdf'),
  link('note://2', {
    name: 'two',
    title: 'Note two',
    description: 'The second',
    mimeType: 'text/plain',
    size: 7,
    icons,
    _meta,
  }),
  link('note://3', { name: 'three' }),
]
const app = createServer({ name: 'content', version: '1' })
  .tool('all', {}, () => blocks)
  .prompt('all', {}, () =>
    blocks.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  )

/** The blocks in the form of each revision. */
function shown(revision: string, at: (index: number) => number): JsonObject[] {
  const dated = revision >= '2025-06-18' ? annotations : { audience: ['user'], priority: 1 }
  const meta = revision >= '2025-06-18' ? { _meta } : {}
  const data = 'AP8QIA=='
  const sound = { type: 'audio', data, mimeType: 'audio/ogg', annotations: { priority: 0 }, ...meta }
  const asResource = {
    type: 'resource',
    resource: { uri: `audio://inline/${at(2)}`, mimeType: 'audio/ogg', blob: data },
    annotations: { priority: 0 },
  }
  const about = {
    type: 'resource_link',
    uri: 'note://2',
    name: 'two',
    title: 'Note two',
    description: 'The second',
    mimeType: 'text/plain',
    size: 7,
    _meta,
  }
  return [
    { type: 'text', text: 'words', annotations: dated, ...meta },
    { type: 'image', data, mimeType: 'image/png', annotations: dated, ...meta },
    revision === '2024-11-05' ? asResource : sound,
    {
      type: 'resource',
      resource: { uri: 'note://1', mimeType: 'text/plain', text: 'inside' },
      annotations: dated,
      ...meta,
    },
    { type: 'resource', resource: { uri: 'bin://1', mimeType: 'application/pdf', blob: data } },
    ...(revision < '2025-06-18'
      ? [
          { type: 'text', text: 'Note two\nThe second\nnote://2' },
          { type: 'text', text: 'three\nnote://3' },
        ]
      : [
          revision >= '2025-11-25' ? { ...about, icons } : about,
          { type: 'resource_link', uri: 'note://3', name: 'three' },
        ]),
  ]
}

scenario(
  'every kind of content reaches every revision, converted where it lacks one [S2-4.3-6] [S4-1-7] [S4-10-4] [S0-4.8] [S0-6.1] [S2-2.5-3] [S4-1-10]',
  app,
  async (client, revision) => {
    expect(await client.call('all')).toEqual({ content: shown(revision, (index) => index), isError: false })
  },
)

scenario('the same holds for the messages of a prompt [S4-9-4] [R178]', app, async (client, revision) => {
  const { messages } = await client.get('prompts/get', { name: 'all' })
  expect(messages).toEqual(
    shown(revision, (index) => index).map((content, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content,
    })),
  )
})
