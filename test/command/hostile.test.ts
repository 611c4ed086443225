import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { line } from './line.ts'

/** The lines that talk to a server, without the program at their end. */
const LINES: readonly (readonly string[])[] = [
  ['list'],
  ['info'],
  ['ping'],
  ['call', 'evil'],
  ['read', 'evil://1'],
  ['prompt', 'evil'],
  ['complete', 'evil', 'a=b'],
  ['tasks', 'list'],
  ['tasks', 'show', 'evil'],
  ['tasks', 'cancel', 'evil'],
  ['doctor'],
]

/** The exit codes of lines that do not fail with the code of the server. */
const CODES: Readonly<Record<string, number>> = { info: 0, doctor: 8 }

/** How lines end with each server: only the result of a call is huge, and info only greets the server. */
const ENDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  silent: { other: 7, doctor: 8 },
  endless: { other: 6, info: 0, doctor: 8 },
  huge: { other: 0, call: 6, doctor: 8 },
}

function hostile(way: string): readonly string[] {
  return ['--', process.execPath, '--import', 'tsx', join(import.meta.dirname, 'hostile-server.ts'), way]
}

// oxlint-disable-next-line no-control-regex
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202e]/

describe.each(LINES)('pierhead %s with a hostile server', (...words) => {
  it('prints nothing of it raw, neither on a terminal nor as JSON [P.command-escapes]', async () => {
    for (const terminal of [true, false]) {
      const { stdout, stderr } = await line([...words, '--verbose', ...hostile('escapes')], { terminal })
      expect(stdout).not.toMatch(RAW)
      // The status line is our own: it begins with a return and clears the line.
      expect(stderr.replaceAll('\r\u001b[2K', '')).not.toMatch(RAW)
      expect(() => JSON.parse(terminal || stdout === '' ? '{}' : stdout)).not.toThrow()
    }
  })

  it('shows its errors without obeying them', async () => {
    const { code, stderr } = await line([...words, ...hostile('errors')], { terminal: true })
    expect(code).toBe(CODES[words[0] ?? ''] ?? 6)
    expect(stderr.replaceAll('\r\u001b[2K', '')).not.toMatch(RAW)
  })

  it.each(Object.entries(ENDS))('ends although the server is %s', async (way, codes) => {
    const { code, stdout } = await line(
      [...words, '--timeout', way === 'silent' ? '3s' : '30s', ...hostile(way)],
      {
        terminal: true,
      },
    )
    expect(code).toBe(codes[words[0] ?? ''] ?? codes['other'])
    expect(stdout.length).toBeLessThan(2_000_000)
  })
})
