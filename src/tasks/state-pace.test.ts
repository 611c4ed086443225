import { expect, test } from 'vitest'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { StatePace } from './state-pace.ts'

const FORM = { type: 'object', properties: { text: { type: 'string' } } }
const QUESTION = { method: 'elicitation/create', params: { message: 'Text?', requestedSchema: FORM } }
const LONG = { action: 'accept', content: { text: 'x'.repeat(1_000_000) } }
const SHORT = { action: 'accept', content: { text: 'x'.repeat(10) } }

test('a caller whose tasks write much waits for each question, as long as it takes to write 8 MB in a second', async () => {
  const clock = new FakeClock()
  const pace = new StatePace({ clock })
  const waits = Array.from({ length: 20 }, () => pace.ask('ann', 4_000_000))
  // The first 64 MiB are free.
  expect(waits.slice(0, 8)).toEqual(Array(8).fill(0))
  expect(waits.slice(9).map((wait, at) => wait - (waits[at + 8] ?? 0))).toEqual(Array(11).fill(1000))
  expect(pace.ask('bob', 4_000_000)).toBe(0)
  await clock.pass(60_000)
  expect(pace.ask('ann', 4_000_000)).toBe(0)
})

test('short answers never wait', () => {
  const pace = new StatePace({ clock: new FakeClock() })
  for (let count = 0; count < 10_000; count++) expect(pace.ask('ann', 65_535)).toBe(0)
})

test('a task with long answers asks on after a while, and ends when it is cancelled meanwhile', async () => {
  // Three long answers are as much as one task may keep.
  const node = new Node().tool('ask', async (run) => {
    for (let at = 0; at < 3; at++) await run.question(`q${at}`, QUESTION)
    for (let at = 0; ; at++) await run.question(`more${at}`, QUESTION)
  })
  const head = await node.start('ask')
  let questions = 0
  const turn = async (): Promise<void> => {
    await settled()
    const [open] = (await node.tasks.questions.of(node.tasks.runs.get(head.id)!.head!)) ?? []
    if (open === undefined) return
    questions++
    await node.tasks.answer(head.id, 'ann', [[open[0], questions <= 3 ? LONG : SHORT]])
  }
  for (let count = 0; count < 100; count++) await turn()
  const atOnce = questions
  expect(atOnce).toBeLessThan(20)
  await node.clock.pass(800)
  await turn()
  expect(questions).toBe(atOnce + 1)
  await settled()
  await node.tasks.cancel(head.id, 'ann')
  await settled()
  expect([await node.status(head.id), node.tasks.runs.size]).toEqual(['cancelled', 0])
})
