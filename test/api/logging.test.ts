import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { call, initialize } from '../http/messages.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/journal/server.ts', import.meta.url))
const OWN = fileURLToPath(new URL('logged.ts', import.meta.url))

/** What a server on stdio writes for a few messages, until its input ends. */
async function run(program: string, args: readonly string[], ...lines: readonly string[]): Promise<string[]> {
  const flags = ['--import', 'tsx', '--conditions=pierhead-source', program, ...args]
  const child = spawn(process.execPath, flags)
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return [out, error]
}

const replies = (out = ''): unknown[] =>
  out
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: unknown }).id)

test('the journal writes with pino to stderr, and stdout has only messages', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-logging-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'journal.txt')
  const [out, error] = await run(EXAMPLE, [path], initialize(), call('note', { text: 'one' }, 2))
  expect(replies(out)).toEqual([1, 2])
  expect([readFileSync(path, 'utf8'), error]).toEqual(['one\n', ''])
})

test.each([
  [
    'pino',
    /^\{"level":50,.*"reference":"[0-9a-f-]{36}","error":\{"name":"TypeError".*"msg":"tool \\"fail\\" failed"\}$/m,
  ],
  [
    'console',
    /^pierhead error: tool "fail" failed \{ reference: '[0-9a-f-]{36}' \} ?\n {4}TypeError: oops\n {8}at /m,
  ],
  ['console.log', /^error: tool "fail" failed$/m],
])('on stdio, %s gets what a tool throws, and stdout stays clean', async (log, line) => {
  const [out, error] = await run(OWN, [log], initialize(), call('fail', {}, 2))
  expect(replies(out)).toEqual([1, 2])
  expect(error).toMatch(line)
})

test('pino on stdout cannot log for a server on stdio, but for one on HTTP', async () => {
  const app = createServer({ name: 'x', version: '1', log: pino(pino.destination(1)) })
  await expect(app.listen()).rejects.toThrow(
    'listen stdio: log writes to stdout, which carries the protocol: write log: pino(pino.destination(2))',
  )
  await (await app.listen({ http: { port: 0 } })).close()
})
