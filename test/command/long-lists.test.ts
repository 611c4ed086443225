import { expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { Output } from '../../src/cli/output.ts'

/** An output that keeps what is written, each time. */
function recorded(terminal: boolean): { readonly output: Output; readonly written: string[] } {
  const written: string[] = []
  const stream: Io['stdout'] = {
    isTTY: terminal,
    write(text, done) {
      written.push(text)
      done?.()
      return true
    },
  }
  const io = { stdout: stream, stderr: stream, env: { NO_COLOR: '1' } } as unknown as Io
  return { output: new Output(io), written }
}

it('writes long lists in pieces, whose JSON is that of all of them', async () => {
  const tools = Array.from({ length: 5000 }, (_, at) => ({
    name: `tool ${at}`,
    inputSchema: { type: 'object', properties: { a: { description: 'one\ntwo \u001b[31m' } } },
  }))
  for (const lists of [{ tools, resources: [], prompts: tools.slice(0, 2) }, { tools: [] }, {}]) {
    const { output, written } = recorded(false)
    await output.lists(lists, () => [])
    expect(written.join('')).toBe(`${JSON.stringify(lists, undefined, 2)}\n`)
    expect(Math.max(...written.map((text) => text.length))).toBeLessThan(100_000)
  }
})

it('writes the lines of long lists in pieces', async () => {
  const { output, written } = recorded(true)
  const lines = Array.from({ length: 50_000 }, (_, at) => `line ${at}`)
  await output.lists({}, () => lines)
  expect(written.join('')).toBe(`${lines.join('\n')}\n`)
  expect(Math.max(...written.map((text) => text.length))).toBeLessThan(100_000)
})
