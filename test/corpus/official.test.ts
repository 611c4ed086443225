import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { officialOf, SOURCE } from './official.ts'
import { findSource } from './source.ts'
import { takeUnchecked } from './tally.ts'

const tool = { name: 'berths', inputSchema: { type: 'object' } }
const text = { type: 'text', text: 'a' }
const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }
const link = { type: 'resource_link', uri: 'harbour://map', name: 'map' }
const icons = [{ src: 'https://example.com/i.png' }]
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }

interface Case {
  readonly title: string
  readonly method: string
  readonly result: JsonObject
  /** The first revision at which the result is valid; `never` means at none. */
  readonly since: Revision | 'never'
  /** The member or value that complaints are about. */
  readonly about: RegExp
  /** Set where the official name is checked for members that are foreign to the revision. */
  readonly closed?: string
}

const cases: readonly Case[] = [
  {
    title: 'a list of tools',
    method: 'tools/list',
    result: { tools: [tool] },
    since: '2024-11-05',
    about: /^$/,
  },
  {
    title: 'a list without its items',
    method: 'tools/list',
    result: {},
    since: 'never',
    about: /tools/,
  },
  {
    title: 'a name that is a number',
    method: 'tools/list',
    result: { tools: [{ ...tool, name: 5 }] },
    since: 'never',
    about: /name/,
  },
  {
    title: 'an input schema that is not about an object',
    method: 'tools/list',
    result: { tools: [{ ...tool, inputSchema: { type: 'string' } }] },
    since: 'never',
    about: /inputSchema/,
  },
  {
    title: 'text and an image',
    method: 'tools/call',
    result: { content: [text, image] },
    since: '2024-11-05',
    about: /^$/,
  },
  {
    title: 'text without a text',
    method: 'tools/call',
    result: { content: [{ type: 'text' }] },
    since: 'never',
    about: /content/,
  },
  {
    title: 'a block that no revision has',
    method: 'tools/call',
    result: { content: [{ ...text, type: 'smell' }] },
    since: 'never',
    about: /content/,
  },
  {
    title: 'a role that no revision has',
    method: 'prompts/get',
    result: { messages: [{ role: 'system', content: text }] },
    since: 'never',
    about: /role/,
  },
  {
    title: 'a priority above 1',
    method: 'tools/call',
    result: { content: [{ ...text, annotations: { priority: 2 } }] },
    since: 'never',
    about: /content/,
  },
  {
    title: 'audio',
    method: 'tools/call',
    result: { content: [audio] },
    since: '2025-03-26',
    about: /content/,
  },
  {
    title: 'a link to a resource',
    method: 'tools/call',
    result: { content: [link] },
    since: '2025-06-18',
    about: /content/,
  },
  {
    title: 'hints about a tool',
    method: 'tools/list',
    result: { tools: [{ ...tool, annotations: { readOnlyHint: true } }] },
    since: '2025-03-26',
    about: /annotations|additional/,
    closed: 'ListToolsResult',
  },
  {
    title: 'a title of a tool',
    method: 'tools/list',
    result: { tools: [{ ...tool, title: 'Berths' }] },
    since: '2025-06-18',
    about: /title|additional/,
    closed: 'ListToolsResult',
  },
  {
    title: 'icons of a resource',
    method: 'resources/list',
    result: { resources: [{ uri: 'harbour://map', name: 'map', icons }] },
    since: '2025-11-25',
    about: /icons|additional/,
    closed: 'ListResourcesResult',
  },
]

const sources = [...new Set([SOURCE, 'none'])].map((source) => ({
  source,
  title: source === 'none' ? 'without the official schemas' : 'with the official schemas',
}))

describe.each(sources)('$title', ({ source }) => {
  describe.each(REVISIONS)('at %s', (revision) => {
    test.each(cases)('$title is valid since $since', ({ method, result, since, about, closed }) => {
      const official = officialOf(revision, source)
      const whole =
        revision === '2026-07-28'
          ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result }
          : result
      const complaint =
        closed === undefined ? official.result(method, whole) : official.shape(closed, whole, 'closed')
      const valid = since !== 'never' && revision >= since
      expect(complaint ?? 'valid').toMatch(valid ? /^valid$/ : about)
      expect(takeUnchecked()).toEqual([])
    })

    test('a request with a wrong param and a notification without its param are found', () => {
      const official = officialOf(revision, source)
      const envelope =
        revision === '2026-07-28'
          ? {
              _meta: {
                'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                'io.modelcontextprotocol/clientCapabilities': {},
              },
            }
          : {}
      const call = (name: unknown): JsonObject => ({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, ...envelope },
      })
      expect(official.message('tools/call', call('berths'))).toBeUndefined()
      expect(official.message('tools/call', call(5))).toMatch(/CallToolRequest: .*name/)
      const updated = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: {} }
      expect(official.message('notifications/resources/updated', updated)).toMatch(/uri/)
    })
  })
})

describe('without the official schemas', () => {
  const old = officialOf('2024-11-05', 'none')

  test('a shape that was never recorded cannot be checked, which is a complaint and is counted', () => {
    expect(old.shape('Nothing', {})).toBe('Nothing cannot be checked: no Nothing is recorded')
    expect(takeUnchecked()).toEqual(['Nothing: no Nothing is recorded'])
  })

  test('a member that was never recorded cannot be checked either', () => {
    const result = { tools: [{ ...tool, colour: 'red' }] }
    expect(old.result('tools/list', result)).toMatch(/cannot be checked: .*tools\[0\]\.colour/)
    expect(takeUnchecked()).toHaveLength(1)
  })

  test.each(['2025-11-25', '2026-07-28'] as const)(
    'the official SDK checks what was not recorded at %s',
    (revision) => {
      const official = officialOf(revision, 'none')
      expect(official.shape('ToolAnnotations', { readOnlyHint: true })).toBeUndefined()
      expect(official.shape('ToolAnnotations', { readOnlyHint: 'yes' })).toMatch(/by the official SDK/)
      expect(takeUnchecked()).toEqual([])
    },
  )
})

describe('the source of the checks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-spec-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('is the folder beside the repository, unless another is named', () => {
    expect(findSource('', folder)).toBe(folder)
    expect(findSource('', join(folder, 'absent'))).toBe('none')
    expect(findSource('none', folder)).toBe('none')
    expect(findSource(folder, join(folder, 'absent'))).toBe(folder)
  })

  test('must exist when it is named', () => {
    expect(() => findSource(join(folder, 'absent'), folder)).toThrow(/absent, which does not exist/)
  })

  test('must have the schema of every revision', () => {
    mkdirSync(join(folder, '2024-11-05'))
    const schema = { $defs: { Thing: { type: 'object', properties: { method: { const: 'thing' } } } } }
    writeFileSync(join(folder, '2024-11-05', 'schema.json'), JSON.stringify(schema))
    const official = officialOf('2024-11-05', folder)
    expect(official.message('thing', { method: 'thing' })).toBeUndefined()
    expect(official.shape('Nothing', {})).toBe('Nothing: the revision has no Nothing')
    expect(() => officialOf('2025-03-26', folder)).toThrow(/2025-03-26\/schema\.json is missing/)
  })
})
