/** A file to write, or to replace. */
export interface WrittenFile {
  readonly path: string
  readonly text: string
}

export type ItemKind = 'tool' | 'resource' | 'prompt'

/** `word-count` as a name in code: `wordCount`. */
function identifierOf(name: string): string {
  const word = name.replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) =>
    (next ?? '').toUpperCase(),
  )
  return /^\d/.test(word) ? `_${word}` : word
}

/** The files of a new tool: its source, a fixture and a test. `server` is the file that exports the server. */
export function toolFiles(name: string, server: string): readonly WrittenFile[] {
  const key = identifierOf(name)
  return [
    {
      path: `tools/${name}.ts`,
      text: `import { defineTools } from 'pierhead'
import { z } from 'zod'

export const { ${member(name, key)} } = defineTools({
  ${quoted(name)}: {
    description: 'Repeats a text. Say here what the tool does, when to use it, and what it returns.',
    input: z.object({ text: z.string().describe('The text to repeat.') }),
    hints: { readOnly: true, idempotent: true },
    run: ({ text }) => text,
  },
})
`,
    },
    {
      path: `fixtures/${name}.json`,
      text: `${JSON.stringify([{ name: 'repeats a text', input: { text: 'hello' }, output: 'hello' }], undefined, 2)}\n`,
    },
    {
      path: `test/${name}.test.ts`,
      text: testText(name, server, `assert.equal(await client.call('${name}', { text: 'hello' }), 'hello')`),
    },
  ]
}

/** The files of a new resource or prompt: a function that adds it to a server, and a test. */
export function itemFiles(kind: 'resource' | 'prompt', name: string, server: string): readonly WrittenFile[] {
  const key = identifierOf(name)
  const isPrompt = kind === 'prompt'
  const body = isPrompt
    ? `  app.prompt(
    '${name}',
    { description: 'Say here what the prompt is for.', args: z.object({ topic: z.string().describe('What it is about.') }) },
    ({ topic }) => \`Tell me about \${topic}.\`,
  )`
    : `  app.resource(
    '${name}://{id}',
    { name: '${name}', description: 'Say here what the resource is.', mimeType: 'text/plain' },
    ({ id }) => \`This is ${name} \${id}.\`,
  )`
  const check = isPrompt
    ? `const { messages } = await client.prompt('${name}', { topic: 'tides' })
  assert.deepEqual(messages[0]?.content, { type: 'text', text: 'Tell me about tides.' })`
    : `const { contents } = await client.read('${name}://7')
  assert.equal((contents[0] as { text: string }).text, 'This is ${name} 7.')`
  return [
    {
      path: `${kind}s/${name}.ts`,
      text: `import type { App } from 'pierhead'
${isPrompt ? "import { z } from 'zod'\n" : ''}
/** Adds the ${kind} to a server. */
export function ${key}(app: Pick<App, '${kind}'>): void {
${body}
}
`,
    },
    { path: `test/${name}.test.ts`, text: testText(name, server, check) },
  ]
}

/** The index of tools with one more: an import at the top, and a member of the default export. Undefined if it has another shape. */
export function withTool(index: string, name: string): string | undefined {
  const key = identifierOf(name)
  const [whole, members] = /export default \{([^{}]*)\}/.exec(index) ?? []
  if (whole === undefined || members === undefined) return undefined
  const list = members.trim().replace(/,$/, '')
  const more = key === name ? key : `'${name}': ${key}`
  const changed = index.replace(whole, () => `export default { ${list === '' ? more : `${list}, ${more}`} }`)
  return `import { ${key} } from './${name}.ts'\n${changed}`
}

/** A server with one more resource or prompt, added before it is exported. Undefined if it has another shape. */
export function withItem(source: string, kind: 'resource' | 'prompt', name: string): string | undefined {
  const key = identifierOf(name)
  if (!/^export default app$/m.test(source)) return undefined
  const added = source.replace(/^export default app$/m, () => `${key}(app)\n\nexport default app`)
  return `import { ${key} } from './${kind}s/${name}.ts'\n${added}`
}

function member(name: string, key: string): string {
  return name === key ? key : `'${name}': ${key}`
}

function quoted(name: string): string {
  return identifierOf(name) === name ? name : `'${name}'`
}

function testText(name: string, server: string, check: string): string {
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'pierhead/testing'
import app from '../${server}'

test('${name}', async () => {
  await using client = await testClient(app)
  ${check}
})
`
}
