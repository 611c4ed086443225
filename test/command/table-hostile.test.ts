import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HostileServer, type WayName } from './hostile-lines.ts'
import { expectJson, expectSafe } from './hostile-text.ts'
import { line } from './line.ts'
import { lineOf, talking, withoutSuite } from './table.ts'

let cwd = ''
let back = (): void => undefined

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'pierhead-hostile-'))
  back = withoutSuite(cwd)
})

afterAll(() => {
  back()
  rmSync(cwd, { recursive: true })
})

/** The exit codes of each way, and those of commands that differ. info only greets the server. */
const CODES: Readonly<Record<WayName, Readonly<Record<string, number>>>> = {
  // The tools accept everything, although their schema does not.
  // Its task never ends.
  escapes: { other: 0, test: 8, validate: 8, 'tasks wait': 7 },
  odd: { other: 0, test: 8, validate: 8, 'tasks show': 6, 'tasks wait': 6, 'tasks cancel': 6 },
  errors: { other: 6, info: 0, validate: 8 },
  // It is there, and greets nobody.
  rejects: { other: 6, validate: 8 },
  mute: { other: 7, validate: 4 },
  silent: { other: 7, info: 0, validate: 8 },
  // Without the list of prompts, the request itself is sent.
  endless: { other: 6, info: 0, prompt: 7, validate: 8 },
  chatter: { other: 7, info: 0, validate: 8 },
  huge: { other: 6, info: 0, validate: 8 },
}

/** The codes of commands that end in the same way with each of these servers, which are at TCP: the suite of conformance only knows HTTP. */
const FIXED: Readonly<Record<string, number>> = { doctor: 8, conformance: 2 }

/** Ways with which each rule of the validator waits, so that one is enough: that every request is answered. */
const ONE_RULE: readonly string[] = ['silent', 'endless', 'chatter', 'huge']

function optionsOf(name: string, way: string): readonly string[] {
  // Commands that go on after a failure wait several times.
  const goesOn = ['doctor', 'validate'].includes(name) || (name === 'prompt' && way === 'endless')
  const isPatient = WAITS[way] === undefined && !goesOn
  const rules = name === 'validate' && ONE_RULE.includes(way) ? ['--rule', 'R005'] : []
  const total = name === 'tasks wait' && way === 'escapes' ? ['--total', '10s'] : []
  return ['--timeout', isPatient ? '30s' : '2s', '--verbose', ...rules, ...total]
}

/** Where no answer comes, waiting is short; elsewhere a busy machine has time. */
const WAITS: Readonly<Record<string, true>> = { mute: true, silent: true, chatter: true }

/** The most that a command prints; watch prints what comes, as long as it comes. */
const MOST = 2_000_000

describe.each(talking())('pierhead %s with a hostile server', (name) => {
  it.each(Object.entries(CODES))(
    '(%s) prints nothing of it raw and ends by itself [P.command-escapes]',
    async (way, codes) => {
      await using server = await HostileServer.start(way as WayName)
      for (const terminal of [true, false]) {
        const args = lineOf(name, [server.url], ...optionsOf(name, way))
        const outcome = await line(args, { terminal, cwd })
        expectSafe(outcome)
        if (!terminal) expectJson(outcome, name === 'watch')
        const most = name === 'watch' ? Number.POSITIVE_INFINITY : MOST
        expect(outcome.stdout.length).toBeLessThan(most)
        expect({ code: outcome.code, stderr: outcome.stderr.slice(0, 2000) }).toMatchObject({
          code: FIXED[name] ?? codes[name] ?? codes['other'],
        })
      }
    },
  )
})
