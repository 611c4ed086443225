import { z } from 'zod'
import { image, link } from '../../src/index.ts'
import type { Mistake } from './mistake.ts'

function returned(
  wrote: string,
  value: () => unknown,
  problem: string | RegExp,
  fix: string | RegExp,
): Mistake {
  return { wrote, make: ({ server, call }) => call(server().tool('a', {}, value)), problem, fix }
}

/** Mistakes in what a handler returns or throws. */
export const returning: readonly Mistake[] = [
  returned(
    'a handler without return',
    () => undefined,
    'tool "a" returned undefined',
    "return a value, or text such as 'done'",
  ),
  returned(
    'an async handler without return',
    async () => undefined,
    'tool "a" returned undefined',
    "return a value, or text such as 'done'",
  ),
  returned(
    "return { content: 'x' }",
    () => ({ content: 'x' }),
    'tool "a" returned content that is not a list of blocks, so it was sent as JSON text',
    "write content: [text('…')], or return the text itself",
  ),
  returned(
    "return { content: { type: 'text', text } }, not a list",
    () => ({ content: { type: 'text', text: 'x' } }),
    'tool "a" returned content that is not a list of blocks',
    "write content: [text('…')]",
  ),
  returned(
    "return { content: [{ type: 'txt', text }] }",
    () => ({ content: [{ type: 'txt', text: 'x' }] }),
    'tool "a" returned a block of the unknown type "txt"',
    'did you mean "text"?',
  ),
  returned(
    "return { type: 'markdown', text }",
    () => ({ type: 'markdown', text: 'x' }),
    'tool "a" returned a block of the unknown type "markdown"',
    'the types are text, image, audio, resource_link and resource',
  ),
  returned(
    "return { content: ['x'] }, text instead of blocks",
    () => ({ content: ['x'] }),
    'tool "a" returned content that is not a list of blocks',
    "write content: [text('…')]",
  ),
  returned(
    'return image(bytes), without a type',
    () => (image as (data: Uint8Array) => unknown)(new Uint8Array(3)),
    'tool "a" returned a block of type "image" without mimeType',
    "write image(data, 'image/png')",
  ),
  returned(
    'return [image(bytes)], without a type, in a list',
    () => ({ content: [(image as (data: Uint8Array) => unknown)(new Uint8Array(3))] }),
    'tool "a" returned a block of type "image" without mimeType',
    "write image(data, 'image/png')",
  ),
  returned(
    "return { type: 'text', value }",
    () => ({ type: 'text', value: 'x' }),
    'tool "a" returned a block of type "text" without text',
    "write text('…')",
  ),
  returned(
    "return link('notes://1', {}), without a name",
    () => link('notes://1', {} as never),
    'tool "a" returned a block of type "resource_link" without name',
    'write link(uri, { name })',
  ),
  returned(
    "return { type: 'resource', uri, text }",
    () => ({ type: 'resource', uri: 'a://b', text: 'x' }),
    'tool "a" returned a block of type "resource" without resource',
    'write embed(uri, text)',
  ),
  returned('return new Map()', () => new Map(), 'a tool cannot return Map', 'plain values'),
  returned(
    'return fetch(url), without reading the reply',
    () => new Response('x'),
    'a tool cannot return Response',
    'is an await missing?',
  ),
  returned(
    'return { user: promise }, an await is missing',
    () => ({ user: Promise.resolve(1) }),
    'a tool cannot return Promise',
    'is an await missing?',
  ),
  returned('return new Error()', () => new Error('x'), 'a tool cannot return Error', 'throw'),
  returned('return bytes', () => new Uint8Array(3), 'a tool cannot return Uint8Array', 'image(bytes, type)'),
  returned('return a function', () => () => 1, 'a tool cannot return function', 'return text'),
  returned('return 10n', () => ({ n: 10n }), 'a tool cannot return a bigint', 'return a number or a string'),
  returned(
    'return an object that contains itself',
    () => {
      const self: Record<string, unknown> = {}
      self['self'] = self
      return self
    },
    /contains itself/,
    /without the reference|leave out/,
  ),
  {
    wrote: 'a handler with an output schema that returns something else',
    make: ({ server, call }) =>
      call(server().tool('a', { output: z.object({ n: z.number() }) }, () => ({ n: 'x' }) as never)),
    problem: 'tool "a" returned a value that does not match its output schema',
    fix: 'n: ',
  },
  {
    wrote: 'a handler with an output schema and without return',
    make: ({ server, call }) =>
      call(server().tool('a', { output: z.object({ n: z.number() }) }, (() => undefined) as never)),
    problem: 'tool "a" returned a value that does not match its output schema',
    fix: /is a return missing|undefined/,
  },
  {
    wrote: 'a handler with an output schema that returns only content',
    make: ({ server, call }) =>
      call(server().tool('a', { output: z.object({ n: z.number() }) }, () => ({ content: [] }) as never)),
    problem: 'tool "a" returned a value that does not match its output schema',
    fix: /structuredContent/,
  },
  {
    wrote: 'a prompt without return',
    make: async ({ server, client }) => (await client(server().prompt('a', {}, () => undefined))).prompt('a'),
    problem: 'prompt "a" failed: a prompt must return text, content, or messages',
    fix: 'role "user" or "assistant"',
  },
  {
    wrote: "a prompt that returns a message with the role 'system'",
    make: async ({ server, client }) =>
      (await client(server().prompt('a', {}, () => ({ role: 'system', content: 'x' })))).prompt('a'),
    problem: 'prompt "a" failed',
    fix: 'role "user" or "assistant"',
  },
  {
    wrote: 'a resource without return',
    make: async ({ server, client }) => {
      const one = await client(server().resource('a://b', {}, () => undefined))
      await one.read('a://b').catch(() => undefined)
      return one.read('a://b')
    },
    problem: 'resource "a://b" returned undefined, so clients are told that it does not exist',
    fix: 'return text, bytes or a value',
  },
  {
    wrote: 'a completer that returns nothing',
    make: async ({ server, client }) => {
      const app = server()
        .prompt('a', { args: z.object({ id: z.string() }) }, () => 'x')
        .complete('a', 'id', (() => undefined) as never)
      return (await client(app)).complete('a', { name: 'id', value: '' })
    },
    problem: 'completion of "a" failed',
    fix: 'return a list of values',
  },
]
