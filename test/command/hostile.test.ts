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
  endless: { other: 6, info: 0, prompt: 7, doctor: 8 },
  huge: { other: 0, call: 6, doctor: 8 },
}

function hostile(way: string): readonly string[] {
  return ['--', process.execPath, '--import', 'tsx', join(import.meta.dirname, 'hostile-server.ts'), way]
}

// oxlint-disable-next-line no-control-regex
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/

describe.each(LINES)('pierhead %s with a hostile server', (...words) => {
  it('prints nothing of it raw, neither on a terminal, nor in a pipe, nor as JSON [P.command-escapes]', async () => {
    for (const [terminal, more] of [[true], [false], [true, '--json'], [false, '--no-json']] as const) {
      const options = more === undefined ? ['--verbose'] : ['--verbose', more]
      const { stdout, stderr } = await line([...words, ...options, ...hostile('escapes')], { terminal })
      expect(stdout).not.toMatch(RAW)
      // The status line is our own: it begins with a return and clears the line.
      expect(stderr.replaceAll('\r\u001b[2K', '')).not.toMatch(RAW)
      const isJson = more === '--json' || (!terminal && more === undefined)
      expect(() => JSON.parse(!isJson || stdout === '' ? '{}' : stdout)).not.toThrow()
    }
  })

  it('shows its errors without obeying them', async () => {
    const { code, stderr } = await line([...words, ...hostile('errors')], { terminal: true })
    expect(code).toBe(CODES[words[0] ?? ''] ?? 6)
    expect(stderr.replaceAll('\r\u001b[2K', '')).not.toMatch(RAW)
  })

  it.each(Object.entries(ENDS))('ends although the server is %s', async (way, codes) => {
    // The doctor and prompt go on after the message without end, and wait again.
    const goesOn = words[0] === 'doctor' || (words[0] === 'prompt' && way === 'endless')
    const isPatient = way !== 'silent' && !goesOn
    const options = ['--timeout', isPatient ? '30s' : '3s']
    const { code, stdout } = await line([...words, ...options, ...hostile(way)], { terminal: true })
    expect(code).toBe(codes[words[0] ?? ''] ?? codes['other'])
    expect(stdout.length).toBeLessThan(2_000_000)
  })
})

describe('a text of 10 MB with escape sequences', () => {
  it.each([
    ['call', 'evil'],
    ['read', 'evil://1'],
  ])('is cut and escaped on a terminal and in a pipe by %s [P.command-escapes]', async (...words) => {
    for (const terminal of [true, false]) {
      const { code, stdout } = await line([...words, '--no-json', ...hostile('large')], { terminal })
      expect(code).toBe(0)
      expect(stdout).not.toMatch(RAW)
      expect(stdout.length).toBeLessThan(1_100_000)
      expect(stdout).toContain('use --json for all of it')
    }
  })

  it('is complete and valid as JSON [P.command-escapes]', async () => {
    const { code, stdout } = await line(['call', 'evil', ...hostile('large')])
    expect(code).toBe(0)
    expect(stdout).not.toMatch(RAW)
    const { content } = JSON.parse(stdout) as { content: { text: string }[] }
    expect(content[0]?.text.length).toBeGreaterThan(10_000_000)
    expect(content[0]?.text.endsWith('click\u001b]8;;\u001b\\')).toBe(true)
  })

  it('is cut in an error too [P.command-escapes]', async () => {
    const { code, stdout, stderr } = await line(['list', ...hostile('large errors')], { terminal: true })
    expect(code).toBe(6)
    expect((stdout + stderr).replaceAll('\r\u001b[2K', '')).not.toMatch(RAW)
    expect(stdout.length + stderr.length).toBeLessThan(1_100_000)
  })
})
