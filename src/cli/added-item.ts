import { dirname, posix, relative, sep } from 'node:path'

/** A file to write, or to replace. Its path begins at the folder of the project. */
export interface WrittenFile {
  readonly path: string
  readonly text: string
}

export type ItemKind = 'tool' | 'resource' | 'prompt'

/** A tool, resource or prompt to add. */
export interface NewItem {
  readonly kind: ItemKind
  readonly name: string
  /** Its name in code. */
  readonly key: string
  /** The scheme of the URIs of a resource. */
  readonly scheme: string
  /** The file with its code. */
  readonly path: string
  /** The file of the server, and the export that holds it. */
  readonly server: { readonly path: string; readonly name: string | undefined }
  /** Whether the project has zod. Otherwise schemas are JSON Schema. */
  readonly hasZod: boolean
}

const SUFFIXES = { tool: 'Tool', resource: 'Resource', prompt: 'Prompt' } as const

/** `word-count` as a name in code: `wordCountTool`, or with a number if that occurs in the text of the file that will use it. */
export function keyOf(kind: ItemKind, name: string, user: string): string {
  const word = name.replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) =>
    (next ?? '').toUpperCase(),
  )
  return numbered(`${word}${SUFFIXES[kind]}`, '', (key) => new RegExp(`\\b${key}\\b`).test(user))
}

/** Schemes that clients and parsers of URLs treat in their own way. */
const SPECIAL = new Set(['http', 'https', 'ws', 'wss', 'ftp', 'file', 'data', 'blob', 'ui'])

/** `Word_count` as a scheme: `word-count`, or with a number if that occurs in the sources of the project. */
export function schemeOf(name: string, sources: readonly string[]): string {
  const word = name.toLowerCase().replaceAll('_', '-')
  const isTaken = (scheme: string): boolean => sources.some((text) => usesScheme(text, scheme))
  return numbered(SPECIAL.has(word) ? `${word}-item` : word, '-', isTaken)
}

function usesScheme(text: string, scheme: string): boolean {
  return ["'", '"', '`'].some((quote) => text.includes(`${quote}${scheme}://`))
}

/** A name, or the name with the first number that makes it free. */
function numbered(name: string, joint: string, isTaken: (name: string) => boolean): string {
  for (let number = 2, free = name; ; free = `${name}${joint}${number++}`) if (!isTaken(free)) return free
}

/** The files of a new item: its source, a test, and for a tool a fixture. */
export function itemFiles(item: NewItem): readonly WrittenFile[] {
  const { kind, name, path } = item
  const own = [
    { path, text: kind === 'tool' ? toolText(item) : adderText(item) },
    { path: `test/${name}.test.ts`, text: testText(item) },
  ]
  if (kind !== 'tool') return own
  const fixture = [{ name: 'repeats a text', input: { text: 'hello' }, output: 'hello' }]
  return [...own, { path: `fixtures/${name}.json`, text: `${JSON.stringify(fixture, undefined, 2)}\n` }]
}

function toolText({ name, key, hasZod }: NewItem): string {
  return `import { defineTools } from 'pierhead'
${zodImport(hasZod)}
export const { ${property(name)}: ${key} } = defineTools({
  ${property(name)}: {
    description: 'Repeats a text. Say here what the tool does, when to use it, and what it returns.',
    input: ${schema('text', 'The text to repeat.', hasZod)},
    hints: { readOnly: true, idempotent: true },
    run: ({ text }) => text,
  },
})
`
}

/** A function that adds a resource or prompt to a server. */
function adderText({ kind, name, key, scheme, hasZod }: NewItem): string {
  const isPrompt = kind === 'prompt'
  const body = isPrompt
    ? `  app.prompt(
    '${name}',
    { description: 'Say here what the prompt is for.', args: ${schema('topic', 'What it is about.', hasZod)} },
    ({ topic }) => \`Tell me about \${topic}.\`,
  )`
    : `  app.resource(
    '${scheme}://{id}',
    { name: '${name}', description: 'Say here what the resource is.', mimeType: 'text/plain' },
    ({ id }) => \`This is ${name} \${id}.\`,
  )`
  return `import type { App } from 'pierhead'
${zodImport(isPrompt && hasZod)}
/** Adds the ${kind} to a server. */
export function ${key}(app: Pick<App, '${kind}'>): void {
${body}
}
`
}

function zodImport(isUsed: boolean): string {
  return isUsed ? "import * as z from 'zod'\n" : ''
}

/** The schema of an object with one text. */
function schema(member: string, description: string, hasZod: boolean): string {
  return hasZod
    ? `z.object({ ${member}: z.string().describe('${description}') })`
    : `{ type: 'object', properties: { ${member}: { type: 'string', description: '${description}' } }, required: ['${member}'] }`
}

function testText({ kind, name, scheme, server }: NewItem): string {
  const checks = {
    tool: `assert.equal(await client.call('${name}', { text: 'hello' }), 'hello')`,
    prompt: `const { messages } = await client.prompt('${name}', { topic: 'tides' })
  assert.deepEqual(messages[0]?.content, { type: 'text', text: 'Tell me about tides.' })`,
    resource: `const { contents } = await client.read('${scheme}://7')
  assert.equal((contents[0] as { text: string }).text, 'This is ${name} 7.')`,
  }
  const imported = server.name === undefined ? 'app' : `{ ${server.name} as app }`
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'pierhead/testing'
import ${imported} from '${specifier('test/x', server.path)}'

test('${name}', async () => {
  await using client = await testClient(app)
  ${checks[kind]}
})
`
}

/** The file that uses a new item, with it: the index of tools, or the server. Undefined if it has another shape than `create` gives it. */
export function withItem(user: WrittenFile, item: NewItem): string | undefined {
  const changed = item.kind === 'tool' ? withTool(user.text, item) : withCall(user.text, item)
  if (changed === undefined) return undefined
  return `import { ${item.key} } from '${specifier(user.path, item.path)}'\n${changed}`
}

/** The index of tools with one more member of its default export. */
function withTool(index: string, { name, key }: NewItem): string | undefined {
  const [whole, members] = /export default \{([^{}]*)\}/.exec(index) ?? []
  if (whole === undefined || members === undefined) return undefined
  const list = members.trim().replace(/,$/, '')
  const more = `${property(name)}: ${key}`
  return index.replace(whole, () => `export default { ${list === '' ? more : `${list}, ${more}`} }`)
}

/** The server with a call, before it is exported. */
function withCall(server: string, { key }: NewItem): string | undefined {
  const exported = /^export default app;?$/m
  if (!exported.test(server)) return undefined
  return server.replace(exported, (text) => `${key}(app)\n\n${text}`)
}

/** How one file of a project imports another. */
function specifier(from: string, to: string): string {
  const path = relative(dirname(from), to).split(sep).join(posix.sep)
  return path.startsWith('.') ? path : `./${path}`
}

/** A name as a property of an object. */
function property(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`
}
