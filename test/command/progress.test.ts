import { PassThrough } from 'node:stream'
import { createServer } from 'pierhead'
import { expect, it, onTestFinished } from 'vitest'
import { runCli } from '../../src/cli/cli.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import type { Io } from '../../src/cli/io.ts'

/** Runs a command line on one terminal, and returns what that got. */
async function shown(args: readonly string[], columns: number): Promise<string> {
  let text = ''
  const terminal: Io['stdout'] = {
    isTTY: true,
    columns,
    write(more, done) {
      text += more
      done?.()
      return true
    },
  }
  const io: Io = {
    stdin: Object.assign(new PassThrough().end(), { isTTY: true }),
    stdout: terminal,
    stderr: terminal,
    env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1' },
    cwd: process.cwd(),
    signal: new AbortController().signal,
  }
  await runCli(args, io, COMMANDS)
  return text
}

it.each([20, 100, 0])(
  'a line of progress is cleared before a result is printed, at %i columns',
  async (columns) => {
    const app = createServer({ name: 'x', version: '1.0.0', log: () => undefined })
    const { url = '' } = await app.listen({ http: { port: 0 } })
    onTestFinished(() => app.close())
    for (const args of [
      ['validate', url, '--rule', 'R005'],
      ['validate', url, '--rule', 'R005', '--format', 'junit'],
      ['doctor', url],
    ]) {
      const text = await shown(args, columns)
      // A terminal that does not know its width is taken for one of 80 columns.
      const width = columns === 0 ? 80 : columns
      const [, ...states] = text.split('\r\u001b[2K')
      expect(states.length).toBeGreaterThan(1)
      // All but the last, in which the result is, take one line and are cleared.
      for (const state of states.slice(0, -1)) {
        expect(state).not.toContain('\n')
        expect(state.length).toBeLessThan(width)
      }
      expect(states.at(-2)).not.toBe('')
      expect(states.at(-1)).toMatch(/^\S[^]*\n$/)
    }
  },
)
