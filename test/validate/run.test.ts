import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Door } from '../../src/validate/door.ts'
import { ALL, failed, noneOf, passed, TRANSPORTS, type Rule } from '../../src/validate/rule.ts'
import { checkServer, type Outcome } from '../../src/validate/run.ts'
import { validateServer } from '../../src/validate/server-run.ts'
import { ServerSubject } from '../../src/validate/server-subject.ts'
import { Trace } from '../../src/validate/trace.ts'
import { LineWire } from '../../src/validate/wire-lines.ts'

const DOOR: Door = { transport: 'stdio', open: () => Promise.reject(new Error('closed')) }

function ruleOf(id: string, check: Rule<ServerSubject>['check']): Rule<ServerSubject> {
  return { id, level: 'must', revisions: ALL, transports: TRANSPORTS, rule: '', how: '', fix: '', check }
}

async function run(rules: readonly Rule<ServerSubject>[]): Promise<readonly string[]> {
  const subject = new ServerSubject({
    door: DOOR,
    revision: '2025-11-25',
    trace: new Trace(),
    mayCall: false,
    ms: 100,
  })
  const options = { until: performance.now() + 10_000, signal: new AbortController().signal }
  return (await checkServer(rules, subject, options)).map(({ is }) => is)
}

const say = (from: 'validator' | 'peer') => (subject: ServerSubject) =>
  void subject.trace.add({ from, stream: 's', text: 'x' })

test('rules that only look at what came before do not make a server silent', async () => {
  expect(await run(Array.from({ length: 8 }, (_, at) => ruleOf(`V${at}`, () => passed)))).toEqual(
    Array(8).fill('passed'),
  )
})

test('a server that answers nothing is left alone after four rules, and one that answers is not', async () => {
  const ask = (isAnswered: boolean) => (subject: ServerSubject) => {
    say('validator')(subject)
    if (isAnswered) say('peer')(subject)
    return isAnswered ? passed : failed('no answer')
  }
  const silent = Array.from({ length: 6 }, (_, at) => ruleOf(`V${at}`, ask(false)))
  expect(await run(silent)).toEqual([...Array<string>(4).fill('failed'), 'unchecked', 'unchecked'])
  const mixed = Array.from({ length: 9 }, (_, at) => ruleOf(`V${at}`, ask(at % 4 === 3)))
  expect(await run(mixed)).not.toContain('unchecked')
})

test('entries that a long trace does not keep still count', async () => {
  const rules = Array.from({ length: 8 }, (_, at) =>
    ruleOf(`V${at}`, (subject) => {
      for (let i = 0; i < 1_000; i++) say(i % 2 === 0 ? 'validator' : 'peer')(subject)
      return passed
    }),
  )
  expect(await run(rules)).toEqual(Array(8).fill('passed'))
})

test('a rule and a connection that do not end are left when the time for the run is over', async () => {
  const [first, second] = await outcomesUntil(performance.now() + 50, [
    ruleOf('V1', async (subject) => {
      await subject.connect()
      return new Promise(() => undefined)
    }),
    ruleOf('V2', () => passed),
  ])
  expect(first).toMatchObject({ is: 'unchecked', found: 'the time for the run was over' })
  expect(second).toMatchObject({ is: 'unchecked', found: 'the time for the run was over' })
})

/** A connection that cannot be closed. */
class Stuck extends LineWire {
  override close(): Promise<void> {
    return new Promise(() => undefined)
  }
}

async function outcomesUntil(
  until: number,
  rules: readonly Rule<ServerSubject>[],
): Promise<readonly Outcome[]> {
  const trace = new Trace()
  const streams = { input: new PassThrough(), output: new PassThrough() }
  const door: Door = {
    transport: 'stdio',
    open: async () => new Stuck('stdio', streams, async () => undefined, trace),
  }
  const subject = new ServerSubject({ door, revision: '2025-11-25', trace, mayCall: false, ms: 100 })
  return checkServer(rules, subject, { until, signal: new AbortController().signal })
}

test('revisions of a server that greets slowly are checked at the same time', async () => {
  expect(await mostAtOnce(0)).toBe(1)
  expect(await mostAtOnce(350)).toBeGreaterThan(1)
})

test('revisions that are checked at the same time keep no more than one alone', async () => {
  const memories = new Set<unknown>()
  await mostAtOnce(350, ({ memory }) => memories.add(memory))
  const looked = memories.size
  memories.clear()
  await mostAtOnce(0, ({ memory }) => memories.add(memory))
  // Each look for a revision has a memory of its own, and so has each revision if they are checked in turn.
  expect(memories.size - looked).toBe(3)
})

/** How many connections a run of one rule has open at once, if the server takes so long for a greeting. */
async function mostAtOnce(greetMs: number, onOpen?: (trace: Trace) => void): Promise<number> {
  let open = 0
  let most = 0
  const door: Door = {
    transport: 'tcp',
    open: (trace) => {
      most = Math.max(most, ++open)
      onOpen?.(trace)
      const input = new PassThrough()
      const output = new PassThrough()
      createInterface({ input }).on('line', (line) => {
        const { id, params } = JSON.parse(line) as { id?: number; params?: { protocolVersion?: string } }
        const { protocolVersion } = params ?? {}
        const serverInfo = { name: 'slow', version: '1' }
        const result = protocolVersion === undefined ? {} : { protocolVersion, capabilities: {}, serverInfo }
        if (id !== undefined)
          setTimeout(() => output.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`), greetMs)
      })
      const close = async (): Promise<void> => void open--
      return Promise.resolve(new LineWire('tcp', { input: output, output: input }, close, trace))
    },
  }
  const { signal } = new AbortController()
  const options = { doors: [door], only: ['R010'], mayCall: false, ms: 2_000, signal }
  await validateServer({ ...options, until: performance.now() + 20_000 })
  return most
}

test.each([
  { versions: ['2026-07-28'], revisions: ['2026-07-28'] },
  { versions: ['2027-01-01'], revisions: [] },
])('a server that discovers $versions is checked at $revisions', async ({ versions, revisions }) => {
  const door: Door = {
    transport: 'tcp',
    open: (trace) => {
      const [input, output] = [new PassThrough(), new PassThrough()]
      createInterface({ input }).on('line', (line) => {
        const { id, method } = JSON.parse(line) as { id?: number; method?: string }
        const answer =
          method === 'server/discover'
            ? { result: { resultType: 'complete', supportedVersions: versions, capabilities: {} } }
            : { error: { code: -32_601, message: 'unknown' } }
        if (id !== undefined) output.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
      })
      return Promise.resolve(
        new LineWire('tcp', { input: output, output: input }, async () => undefined, trace),
      )
    },
  }
  const { signal } = new AbortController()
  const options = { doors: [door], only: ['R011'], mayCall: false, ms: 2_000, signal }
  const { places } = await validateServer({ ...options, until: performance.now() + 20_000 })
  expect(places.map((place) => place.revisions)).toEqual([revisions])
})

test('a finding names up to five faults, and counts the others', async () => {
  expect(await noneOf([])).toEqual(passed)
  expect(await noneOf(['a', 'b'])).toEqual(failed('a; b'))
  expect(await noneOf(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toEqual(failed('a; b; c; d; e; and 2 more'))
})
