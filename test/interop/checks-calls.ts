import { expect } from 'vitest'
import { PNG } from './app-facts.ts'
import { failure, type Check } from './check.ts'
import type { Json } from './peer.ts'

const DATA = Buffer.from(PNG).toString('base64')

const INFO_KEY = 'io.modelcontextprotocol/serverInfo'

/** Calls of tools, reading, prompts and completion. */
export const CALLS: readonly Check[] = [
  {
    title:
      'calls a tool and gets its text [R017] [R049] [R142] [S0-4.6] [S0-4.8] [S3-9-4] [S3-5.1-2] [S4-10-3]',
    run: async (peer, revision) => {
      const said = 'hällo 👋 \u2028 "quoted"\n'
      expect(plain(await peer.call('echo', { text: said }))).toEqual({
        content: [{ type: 'text', text: said }],
        isError: false,
      })
      const result = peer.wire.answer('tools/call')?.result
      if (revision < '2026-07-28')
        expect(Object.keys(result ?? {}).toSorted()).toEqual(['content', 'isError'])
      else {
        expect(result?.['resultType']).toBe('complete')
        expect(result?.['_meta']).toMatchObject({ [INFO_KEY]: { name: 'interop', version: '1.2.3' } })
      }
    },
  },
  {
    title: 'gets structured output, and the same as text [R147] [R148] [R149] [S4-1-2] [S4-10-5] [S4-10-6]',
    run: async (peer, revision) => {
      await peer.all('tools')
      expect(plain(await peer.call('add', { a: 1, b: 2 }))).toEqual({
        content: [{ type: 'text', text: '{"sum":3}' }],
        isError: false,
        ...(revision >= '2025-06-18' && { structuredContent: { sum: 3 } }),
      })
      expect(plain(await peer.call('primes'))).toEqual({
        content: [{ type: 'text', text: '[2,3,5]' }],
        isError: false,
        ...(revision >= '2025-06-18' && {
          structuredContent: revision < '2026-07-28' ? { result: [2, 3, 5] } : [2, 3, 5],
        }),
      })
    },
  },
  {
    title:
      'gets a failure that the model can read, and never what a crash said [R143] [S0-4.10] [S3-9-5] [S3-7.1-3] [S2-4.3-5]',
    run: async (peer) => {
      expect(plain(await peer.call('fail'))).toEqual({
        content: [{ type: 'text', text: 'The disk is full; delete something and call again.' }],
        isError: true,
      })
      const crash = await peer.call('crash')
      expect(crash['isError']).toBe(true)
      expect(JSON.stringify(crash)).not.toContain('hunter2')
    },
  },
  {
    title: 'is told of arguments that break the schema [R145] [S2-4.2-4] [S3-8-3] [S3-9-7]',
    until: '2025-06-18',
    run: async (peer) => {
      expect(await failure(peer.call('add', { a: 'one', b: 2 }))).toMatchObject({ code: -32602 })
      expect(await failure(peer.call('add', { a: 1001, b: 2 }))).toMatchObject({ code: -32602 })
    },
  },
  {
    title:
      'is told of arguments that break the schema in a result that the model reads [R146] [S2-4.4-3] [S3-8-3]',
    since: '2025-11-25',
    run: async (peer) => {
      const wrong = await peer.call('add', { a: 1001 })
      expect(wrong).toMatchObject({ isError: true, content: [{ type: 'text' }] })
      expect(wrong).not.toHaveProperty('structuredContent')
      expect(JSON.stringify(wrong['content'])).toMatch(/1000|required|"b"/)
    },
  },
  {
    title:
      'is told that a tool, a prompt or a prompt argument is missing [R144] [R179] [S0-4.9] [S3-7.3-1] [S3-9-7]',
    run: async (peer) => {
      const unknown = await failure(peer.call('ecko'))
      expect(unknown).toMatchObject({ code: -32602 })
      expect(unknown.message).toContain('did you mean "echo"?')
      expect(await failure(peer.prompt('nobody'))).toMatchObject({ code: -32602 })
      expect(await failure(peer.prompt('greet'))).toMatchObject({ code: -32602 })
    },
  },
  {
    title:
      'gets image, audio, link and embedded resources as its revision has them [S2-4.3-6] [S4-1-7] [S4-10-4]',
    run: async (peer, revision) => {
      const embedded = (uri: string, mimeType: string, body: Json): Json => ({
        type: 'resource',
        resource: { uri, mimeType, ...body },
      })
      expect(plain(await peer.call('gallery'))).toEqual({
        content: [
          { type: 'text', text: 'All kinds', annotations: { audience: ['user'], priority: 1 } },
          { type: 'image', data: DATA, mimeType: 'image/png' },
          revision >= '2025-03-26'
            ? { type: 'audio', data: DATA, mimeType: 'audio/wav' }
            : embedded('audio://inline/2', 'audio/wav', { blob: DATA }),
          revision >= '2025-06-18'
            ? {
                type: 'resource_link',
                uri: 'note://hello',
                name: 'hello',
                title: 'Hello',
                description: 'A greeting',
                mimeType: 'text/plain',
              }
            : { type: 'text', text: 'Hello\nA greeting\nnote://hello' },
          embedded('note://hello', 'text/plain', { text: 'Hello' }),
          embedded('note://logo', 'image/png', { blob: DATA }),
        ],
        isError: false,
      })
    },
  },
  {
    title: 'gets a large answer whole [S3-9-10]',
    run: async (peer) => {
      const [block] = (await peer.call('large'))['content'] as { text: string }[]
      expect(block?.text.length).toBe(1_000_000)
      expect(block?.text === 'ü'.repeat(1_000_000)).toBe(true)
    },
  },
  {
    title:
      'reads text, binary, JSON, several contents and templates [R171] [S2-3.3-1] [S3-5.2-2] [S3-7.2-1] [S3-7.2-2] [S4-8-3] [S4-8-4] [S2-3.7-2]',
    run: async (peer) => {
      const contents = async (uri: string): Promise<unknown> => (await peer.read(uri))['contents']
      expect(await contents('note://hello')).toEqual([
        { uri: 'note://hello', mimeType: 'text/plain', text: 'Hello, wörld' },
      ])
      expect(await contents('note://logo')).toEqual([
        { uri: 'note://logo', mimeType: 'image/png', blob: DATA },
      ])
      expect(await contents('note://facts')).toEqual([
        { uri: 'note://facts', mimeType: 'application/json', text: '{"answer":42}' },
      ])
      expect(await contents('note://pair')).toEqual([
        { uri: 'note://pair#1', mimeType: 'text/plain', text: 'one' },
        { uri: 'note://pair#2', mimeType: 'application/octet-stream', blob: DATA },
      ])
      expect(await contents('city://fr/Aix-en-Provence')).toEqual([
        { uri: 'city://fr/Aix-en-Provence', mimeType: 'text/plain', text: 'Aix-en-Provence in fr' },
      ])
    },
  },
  {
    title: 'is told that a resource does not exist [R172] [S3-3-2] [S3-7.3-3]',
    until: '2025-11-25',
    run: async (peer) => {
      expect(await failure(peer.read('note://nowhere'))).toMatchObject({ data: { uri: 'note://nowhere' } })
      // One client gives this error another code, so this looks at what it was sent.
      expect(peer.wire.answer('resources/read')?.error).toMatchObject({
        code: -32002,
        data: { uri: 'note://nowhere' },
      })
    },
  },
  {
    title: 'is told that a resource does not exist, as invalid params [R173]',
    since: '2026-07-28',
    run: async (peer) => {
      expect(await failure(peer.read('note://nowhere'))).toMatchObject({
        code: -32602,
        data: { uri: 'note://nowhere' },
      })
    },
  },
  {
    title:
      'gets prompts filled in, with roles and every kind of content [S2-5.3-1] [S3-5.3-2] [S4-9-3] [S4-9-4]',
    run: async (peer) => {
      expect(plain(await peer.prompt('greet', { name: 'Ada' }))).toEqual({
        description: 'Greets somebody',
        messages: [
          { role: 'user', content: { type: 'text', text: 'Greet Ada.' } },
          { role: 'assistant', content: { type: 'text', text: 'In which style?' } },
        ],
      })
      expect(plain(await peer.prompt('greet', { name: 'Ada', style: 'stern' }))['messages']).toContainEqual({
        role: 'assistant',
        content: { type: 'text', text: 'In a stern style.' },
      })
      expect(plain(await peer.prompt('show'))).toEqual({
        messages: [
          { role: 'user', content: { type: 'image', data: DATA, mimeType: 'image/png' } },
          {
            role: 'user',
            content: {
              type: 'resource',
              resource: { uri: 'note://hello', mimeType: 'text/plain', text: 'Hello' },
            },
          },
        ],
      })
    },
  },
  {
    title:
      'completes arguments of prompts and variables of templates, a hundred at most [R181] [S2-7.2-2] [S4-14-8]',
    run: async (peer) => {
      const style = await peer.complete({
        ref: { type: 'ref/prompt', name: 'greet' },
        argument: { name: 'style', value: 'x' },
      })
      expect(style['completion']).toEqual({
        values: Array.from({ length: 100 }, (_, index) => `x-${index}`),
        total: 1000,
        hasMore: true,
      })
      const ref = { type: 'ref/resource', uri: 'city://{country}/{city}' }
      const city = await peer.complete({ ref, argument: { name: 'city', value: 'Pa' } })
      expect(city['completion']).toEqual({ values: ['Paris', 'Parma'], total: 2, hasMore: false })
    },
  },
  {
    title: 'completes with what is filled in already [S4-1-11] [S4-14-9] [S2-7.1-2]',
    since: '2025-06-18',
    run: async (peer) => {
      const { completion } = await peer.complete({
        ref: { type: 'ref/resource', uri: 'city://{country}/{city}' },
        argument: { name: 'city', value: '' },
        context: { arguments: { country: 'it' } },
      })
      expect(completion).toEqual({ values: ['Parma', 'Rome'], total: 2, hasMore: false })
    },
  },
  {
    title: 'pings, and gets an empty result [R040] [S4-14-1]',
    until: '2025-11-25',
    run: async (peer) => {
      expect(await peer.request('ping')).toEqual({})
    },
  },
  {
    title: 'is told that a method does not exist [R011] [S3-9-6]',
    until: '2025-11-25',
    run: async (peer) => {
      expect(await failure(peer.request('acme/nothing'))).toMatchObject({ code: -32601 })
    },
  },
]

/** A result without the metadata that names the server. */
export function plain(result: Json): Json {
  const { _meta, ...rest } = result
  return rest
}
