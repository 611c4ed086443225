import { expect } from 'vitest'
import { CHANGED, ICON } from './app-facts.ts'
import { failure, type Check } from './check.ts'
import type { Json, ListKind, Peer } from './peer.ts'

// oxfmt-ignore
const NAMES: Readonly<Record<ListKind, readonly string[]>> = {
  tools: [
    'echo', 'add', 'primes', 'fail', 'crash', 'gallery', 'locate', 'large', 'count', 'wait', 'await', 'meet', 'speak', 'hang-up', 'let-go',
    'touch', 'grow', 'shrink', 'register', 'pay', 'joke', 'plan', 'folders', 'survey', 'twice',
  ],
  resources: ['hello', 'logo', 'facts', 'pair', 'last'],
  resourceTemplates: ['city', 'plant', 'stone', 'river', 'star'],
  prompts: ['ask', 'greet', 'show', 'first', 'second', 'third', 'broken'],
}
const KINDS = Object.keys(NAMES) as ListKind[]

/** Opening, lists, reading, prompts and completion. */
export const LISTS: readonly Check[] = [
  {
    title:
      'agrees on the revision and learns what the server is and can do [R031] [R032] [S3-9-1] [S3-9-2] [S4-5-3]',
    run: async (peer, revision) => {
      expect(peer.revision).toBe(revision)
      expect(peer.server).toEqual({
        info: {
          name: 'interop',
          version: '1.2.3',
          ...(revision >= '2025-06-18' && { title: 'Interop' }),
          ...(revision >= '2025-11-25' && {
            description: 'Something of every feature',
            websiteUrl: 'https://example.com/',
            icons: [ICON],
          }),
        },
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          prompts: { listChanged: true },
          logging: {},
          ...(revision >= '2025-03-26' && { completions: {} }),
        },
        instructions: 'Call echo first.',
      })
    },
  },
  {
    title: 'lists everything, walking the pages in its own way [S3-9-3] [S4-14-11] [S2-9.4-15]',
    run: async (peer) => {
      for (const kind of KINDS) expect((await peer.all(kind)).map(({ name }) => name)).toEqual(NAMES[kind])
    },
  },
  {
    title:
      'gets pages of four, each after the cursor of the one before [S0-4.1] [S2-3.2-1] [S2-3.7-1] [S2-4.2-1] [S2-5.2-1]',
    run: async (peer) => {
      for (const kind of KINDS) expect(await walk(peer, kind)).toEqual(inFours(NAMES[kind]))
    },
  },
  {
    title: 'is told that a cursor is not one of ours [R183]',
    run: async (peer) => {
      expect(await failure(peer.page('tools', 'made-up'))).toMatchObject({ code: -32602 })
    },
  },
  {
    title: 'sees tools as its revision describes them [R141] [S0-4.2] [S0-4.3] [S4-1-12]',
    run: async (peer, revision) => {
      const [echo, add, primes, fail] = (await peer.page('tools')).items
      expect(echo).toEqual({
        name: 'echo',
        description: 'Says it again',
        inputSchema: {
          type: 'object',
          properties: { text: { type: 'string', description: 'What to say' } },
          required: ['text'],
        },
        ...(revision >= '2025-03-26' && {
          annotations: {
            readOnlyHint: true,
            openWorldHint: false,
            ...(revision < '2025-06-18' && { title: 'Echo' }),
          },
        }),
        ...(revision >= '2025-06-18' && { title: 'Echo', _meta: { 'example.com/kind': 'plain' } }),
        ...(revision >= '2025-11-25' && { icons: [{ src: 'https://example.com/echo.png' }] }),
      })
      expect(add?.['outputSchema']).toEqual(
        revision >= '2025-06-18'
          ? { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }
          : undefined,
      )
      expect(primes?.['outputSchema']).toEqual(primesSchema(revision))
      expect(fail?.['inputSchema']).toEqual({ type: 'object', additionalProperties: false })
    },
  },
  {
    title:
      'sees resources, templates and prompts as its revision describes them [R170] [R178] [S4-8-2] [S4-8-5] [S4-9-2] [S2-5.2-2]',
    run: async (peer, revision) => {
      const titled = (title: string): Json => (revision >= '2025-06-18' ? { title } : {})
      const icons = revision >= '2025-11-25' ? { icons: [ICON] } : {}
      expect((await peer.page('resources')).items[0]).toEqual({
        uri: 'note://hello',
        name: 'hello',
        description: 'A greeting',
        mimeType: 'text/plain',
        size: 12,
        annotations: {
          audience: ['user'],
          priority: 0.5,
          ...(revision >= '2025-06-18' && { lastModified: CHANGED }),
        },
        ...titled('Hello'),
        ...icons,
      })
      expect((await peer.page('resourceTemplates')).items[0]).toEqual({
        uriTemplate: 'city://{country}/{city}',
        name: 'city',
        description: 'A city',
        mimeType: 'text/plain',
        ...titled('City'),
      })
      await peer.page('prompts')
      // Both clients drop the titles of arguments, so this looks at what they were sent.
      expect(peer.wire.answer('prompts/list')).toHaveProperty('result.prompts.1', {
        name: 'greet',
        description: 'Greets somebody',
        arguments: [
          { name: 'name', description: 'Who is greeted', required: true, ...titled('Name') },
          { name: 'style', required: false },
        ],
        ...titled('Greet'),
        ...icons,
      })
    },
  },
]

function primesSchema(revision: string): unknown {
  const list = { type: 'array', items: { type: 'number' } }
  if (revision < '2025-06-18') return undefined
  return revision < '2026-07-28'
    ? { type: 'object', properties: { result: list }, required: ['result'] }
    : list
}

async function walk(peer: Peer, kind: ListKind): Promise<readonly unknown[][]> {
  const pages: unknown[][] = []
  let cursor: string | undefined
  do {
    const page = await peer.page(kind, cursor)
    pages.push(page.items.map(({ name }) => name))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return pages
}

function inFours(names: readonly string[]): readonly string[][] {
  return Array.from({ length: Math.ceil(names.length / 4) }, (_, page) => names.slice(page * 4, page * 4 + 4))
}
