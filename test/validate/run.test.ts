import { expect, test } from 'vitest'
import type { Door } from '../../src/validate/door.ts'
import { ALL, failed, passed, TRANSPORTS, type Rule } from '../../src/validate/rule.ts'
import { checkServer } from '../../src/validate/run.ts'
import { ServerSubject } from '../../src/validate/server-subject.ts'
import { Trace } from '../../src/validate/trace.ts'

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
