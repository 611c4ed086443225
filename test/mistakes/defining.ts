import { z } from 'zod'
import type { App } from '../../src/index.ts'
import type { Mistake } from './mistake.ts'

const run = (): string => 'x'
/** The API as a program without types sees it. */
const untyped = (app: App): Record<string, (...args: unknown[]) => App> => app as never

/** Mistakes in the definition of tools, resources, prompts and completions. */
export const defining: readonly Mistake[] = [
  {
    wrote: "app.tool('a', handler), without options",
    make: ({ server }) => untyped(server())['tool']!('a', run),
    problem: 'tool "a": the options are missing',
    fix: 'write tool(name, {}, handler)',
  },
  {
    wrote: "app.tool('a', 'describes a', {}, handler), as in the official SDK",
    make: ({ server }) => untyped(server())['tool']!('a', 'describes a', {}, run),
    problem: 'tool "a": the options are a string',
    fix: 'write tool(name, { description }, handler)',
  },
  {
    wrote: "app.tool({ name: 'a', execute }), as in FastMCP",
    make: ({ server }) => untyped(server())['tool']!({ name: 'a', execute: run }),
    problem: 'the name of a tool must be a string',
    fix: 'write tool(name, { … }, handler)',
  },
  {
    wrote: "app.tool('a', {}), without a handler",
    make: ({ server }) => untyped(server())['tool']!('a', {}),
    problem: 'tool "a": the handler is missing',
    fix: 'write tool(name, { … }, (input, ctx) => …)',
  },
  {
    wrote: "app.tool('get weather', {}, handler)",
    make: ({ server }) => server().tool('get weather', {}, run),
    problem: 'tool "get weather": a name has 1 to 128 of the characters A-Z a-z 0-9 _ . -',
    fix: 'write "get_weather"',
  },
  {
    wrote: "app.tool('', {}, handler)",
    make: ({ server }) => server().tool('', {}, run),
    problem: 'tool "": a name has 1 to 128',
    fix: 'of the characters A-Z a-z 0-9 _ . -',
  },
  {
    wrote: 'two tools with one name',
    make: ({ server }) => server().tool('a', {}, run).tool('a', {}, run),
    problem: 'tool "a": it already exists',
    fix: 'remove it first to replace it',
  },
  {
    wrote: 'two resources with one URI',
    make: ({ server }) => server().resource('a://b', {}, run).resource('a://b', {}, run),
    problem: 'resource "a://b": it already exists',
    fix: 'remove it first to replace it',
  },
  {
    wrote: 'two prompts with one name',
    make: ({ server }) => server().prompt('a', {}, run).prompt('a', {}, run),
    problem: 'prompt "a": it already exists',
    fix: 'remove it first to replace it',
  },
  {
    wrote: '{ descripton } as an option of a tool',
    make: ({ server }) => server().tool('a', { descripton: 'x' } as never, run),
    problem: 'tool "a": there is no option "descripton"',
    fix: 'did you mean "description"?',
  },
  {
    wrote: '{ inputSchema } as an option of a tool, as in the official SDK',
    make: ({ server }) => server().tool('a', { inputSchema: z.object({}) } as never, run),
    problem: 'there is no option "inputSchema"',
    fix: 'did you mean "input"?',
  },
  {
    wrote: '{ outputSchema } as an option of a tool',
    make: ({ server }) => server().tool('a', { outputSchema: z.object({}) } as never, run),
    problem: 'there is no option "outputSchema"',
    fix: 'did you mean "output"?',
  },
  {
    wrote: '{ parameters } as an option of a tool, as in FastMCP',
    make: ({ server }) => server().tool('a', { parameters: z.object({}) } as never, run),
    problem: 'there is no option "parameters"',
    fix: 'did you mean "input"?',
  },
  {
    wrote: '{ annotations } as an option of a tool',
    make: ({ server }) => server().tool('a', { annotations: { readOnlyHint: true } } as never, run),
    problem: 'there is no option "annotations"',
    fix: 'did you mean "hints"?',
  },
  {
    wrote: '{ hints: { readOnlyHint: true } }',
    make: ({ server }) => server().tool('a', { hints: { readOnlyHint: true } as never }, run),
    problem: 'there is no option "readOnlyHint"',
    fix: 'did you mean "readOnly"?',
  },
  {
    wrote: "{ timeout: '20 seconds' } as an option of a tool",
    make: ({ server }) => server().tool('a', { timeout: '20 seconds' }, run),
    problem: 'not "20 seconds"',
    fix: "text such as '250ms', '20s'",
  },
  {
    wrote: '{ timeout: -1 } as an option of a tool',
    make: ({ server }) => server().tool('a', { timeout: -1 }, run),
    problem: 'timeout must be a duration: milliseconds',
    fix: "text such as '250ms', '20s'",
  },
  {
    wrote: "{ scopes: 'admin' } instead of a list",
    make: ({ server }) => server().tool('a', { scopes: 'admin' as never }, run),
    problem: 'scopes must be a list',
    fix: "write scopes: ['admin']",
  },
  {
    wrote: '{ visible: false } instead of a function',
    make: ({ server }) => server().tool('a', { visible: false as never }, run),
    problem: 'visible must be a function',
    fix: '(context) => true or false',
  },
  {
    wrote: 'app.add([tool]), a list of tools',
    make: ({ server }) => server().add([{ run }] as never),
    problem: 'tools: pass an object with tools by name',
    fix: '{ add: { input, run } }',
  },
  {
    wrote: 'a tool in a map without run',
    make: ({ server }) => server().add({ a: {} as never }),
    problem: 'tool "a": it has no run function',
    fix: 'write { a: { run: (input, ctx) => … } }',
  },
  {
    wrote: 'a tool in a map with handler instead of run',
    make: ({ server }) => server().add({ a: { handler: run } as never }),
    problem: 'tool "a": it has no run function',
    fix: 'write { a: { run: (input, ctx) => … } }',
  },
  {
    wrote: "app.resource('notes', {}, handler), a name instead of a URI",
    make: ({ server }) => server().resource('notes', {}, run),
    problem: 'resource "notes": it is not a URI',
    fix: 'write something like "orders://list"',
  },
  {
    wrote: "app.resource('notes', 'notes://all', {}, handler), as in the official SDK",
    make: ({ server }) => untyped(server())['resource']!('notes', 'notes://all', {}, run),
    problem: 'resource "notes": the options are a string',
    fix: 'write resource(uri, { name }, handler)',
  },
  {
    wrote: "app.resource('notes://all', handler), without options",
    make: ({ server }) => untyped(server())['resource']!('notes://all', run),
    problem: 'the options are missing',
    fix: 'write resource(uri, {}, handler)',
  },
  {
    wrote: "app.resource('notes://{id', {}, handler), an open brace",
    make: ({ server }) => server().resource('notes://{id', {}, run),
    problem: 'resource "notes://{id": ',
    fix: /clos|\}/,
  },
  {
    wrote: "app.resource('notes/{id}', …), a template without a scheme",
    make: ({ server }) => server().resource('notes/{id}', {}, run),
    problem: 'resource "notes/{id}": it does not make URIs',
    fix: 'begin with a scheme, as in "notes://notes/{id}"',
  },
  {
    wrote: "app.resource('notes://:id', …), a path of Express",
    make: ({ server }) => server().resource('notes://:id', {}, run),
    problem: 'resource "notes://:id": it is not a URI',
    fix: 'write a variable as {id}',
  },
  {
    wrote: "{ mimetype: 'text/plain' } as an option of a resource",
    make: ({ server }) => server().resource('a://b', { mimetype: 'text/plain' } as never, run),
    problem: 'there is no option "mimetype"',
    fix: 'did you mean "mimeType"?',
  },
  {
    wrote: "{ size: '12' } as an option of a resource",
    make: ({ server }) => server().resource('a://b', { size: '12' as never }, run),
    problem: 'size must be a number',
    fix: 'not "12"',
  },
  {
    wrote: '{ argsSchema } as an option of a prompt',
    make: ({ server }) => server().prompt('a', { argsSchema: {} } as never, run),
    problem: 'there is no option "argsSchema"',
    fix: 'did you mean "args"?',
  },
  {
    wrote: "app.prompt('a', handler), without options",
    make: ({ server }) => untyped(server())['prompt']!('a', run),
    problem: 'the options are missing',
    fix: 'write prompt(name, {}, handler)',
  },
  {
    wrote: 'a prompt with args: z.object({ n: z.number() })',
    make: ({ server }) => server().prompt('a', { args: z.object({ n: z.number() }) }, run),
    problem: 'the argument "n" does not accept strings, but clients send only strings',
    fix: 'z.coerce.number()',
  },
  {
    wrote: "app.complete('prompt', …) before the prompt exists",
    make: ({ server }) => server().complete('triage', 'id', () => []),
    problem: 'completion of "triage": it does not exist',
    fix: 'define the prompt or template first',
  },
  {
    wrote: "app.complete('prompt', 'argument that it lacks', …)",
    make: ({ server }) =>
      server()
        .prompt('triage', { args: z.object({ id: z.string() }) }, run)
        .complete('triage', 'name', () => []),
    problem: 'it has no argument "name"',
    fix: 'its arguments are id',
  },
  {
    wrote: "app.complete('prompt', 'id', ['1', '2']), values instead of a function",
    make: ({ server }) =>
      server()
        .prompt('triage', { args: z.object({ id: z.string() }) }, run)
        .complete('triage', 'id', ['1', '2'] as never),
    problem: 'the completer is not a function',
    fix: '(value) => [',
  },
  {
    wrote: "app.remove('tools', 'a')",
    make: ({ server }) => server().remove('tools' as never, 'a'),
    problem: 'the first argument must be',
    fix: '"tool", "resource" or "prompt"',
  },
  {
    wrote: "app.use('tool/call', middleware)",
    make: ({ server }) => server().use('tool/call', (_, next) => next()),
    problem: 'there is no method "tool/call"',
    fix: 'did you mean "tools/call"?',
  },
  {
    wrote: "app.use('tools/call'), without middleware",
    make: ({ server }) => untyped(server())['use']!('tools/call'),
    problem: 'the middleware is not a function',
    fix: '(ctx, next) => next()',
  },
  {
    wrote: 'app.use({ midleware }), a misspelt part of a plug-in',
    make: ({ server }) => server().use({ midleware: () => ({}) } as never),
    problem: 'there is no option "midleware"',
    fix: 'did you mean "middleware"?',
  },
  {
    wrote: 'app.provide({ db }), an object instead of a function',
    make: ({ server }) => server().provide({ db: 1 } as never),
    problem: 'provide: the argument is not a function',
    fix: 'write provide(() => ({ db }))',
  },
  {
    wrote: 'app.extend({}), not an extension',
    make: ({ server }) => server().extend({} as never),
    problem: 'extend',
    fix: 'pass an extension from defineExtension',
  },
  {
    wrote: 'a description of 100,000 characters',
    make: ({ server }) => server().tool('a', { description: 'x'.repeat(100_000) }, run),
    problem: 'the description has 100000 characters',
    fix: 'shorten it, or raise limits.descriptionLength',
  },
  {
    wrote: "{ _meta: { 'io.modelcontextprotocol/x': 1 } }, a reserved key",
    make: ({ server }) => server().tool('a', { _meta: { 'io.modelcontextprotocol/x': 1 } }, run),
    problem: 'the _meta key "io.modelcontextprotocol/x" cannot be used',
    fix: 'its prefix is reserved for the protocol; use the name of a domain of your own',
  },
  {
    wrote: "app.updated('nope')",
    make: ({ server }) => {
      const app = server().resource('notes://all', {}, run)
      app.updated('nope')
      app.updated('nope')
    },
    problem: 'updated("nope"): no resource or template has this URI',
    fix: 'pass the URI of one, such as "notes://all"',
  },
]
