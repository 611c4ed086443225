import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const FLAGS = ['--import', 'tsx', '--conditions=pierhead-source', '--input-type=module', '--eval']
const HINT = 'Change the definition as the message says; docs/guides/server.md shows valid ones.'

/** What Node prints about a program that ends with an error. */
function lastWords(program: string): { readonly lines: readonly string[]; readonly status: number | null } {
  const { stderr, status } = spawnSync(process.execPath, [...FLAGS, program], { encoding: 'utf8' })
  return { lines: stderr.split('\n'), status }
}

const FAILS = "app.tool('a b', {}, () => '')"

test.each([
  ['at its top level', FAILS],
  ['after a wait', `await new Promise((resolve) => setImmediate(resolve))\n${FAILS}`],
  ['in a function that nobody awaits', `void (async () => { ${FAILS} })()`],
  ['while it listens', `await app.listen({ http: { port: 0 } })\n${FAILS}`],
])('a program that fails %s ends with what to do right under the message', (_, text) => {
  const { lines, status } = lastWords(
    `import { createServer } from 'pierhead'\nconst app = createServer({ name: 'x', version: '1', log: () => undefined })\n${text}`,
  )
  expect(status).toBe(1)
  const at = lines.findIndex((line) => line.startsWith('McpError: tool "a b": '))
  expect(lines[at + 1]).toBe(HINT)
  expect(lines[at + 2]).toMatch(/^ {4}at /)
})

test('so does a client program, and errors of others are left alone', () => {
  const failing =
    "import { connect } from 'pierhead/client'\nawait connect('http://127.0.0.1:9/mcp', { recovery: false })"
  const { lines } = lastWords(failing)
  const at = lines.findIndex((line) => line.startsWith('McpError: cannot connect to '))
  expect(lines[at + 1]).toMatch(/^[A-Z].*\.$/)
  expect(lines[at + 2]).toMatch(/^ {4}at /)
  const other = lastWords(
    "import { createServer } from 'pierhead'\ntry { createServer({}) } catch {}\nthrow Object.assign(new Error('own'), { hint: 'no' })",
  )
  const own = other.lines.indexOf('Error: own')
  expect(other.lines[own + 1]).toMatch(/^ {4}at /)
})
