import { expect, test } from 'vitest'
import { checkCrashLog, type CrashFault, type CrashLine } from './crash-checker.ts'

const EXPECTED = { tasks: 3, kills: 1, survivors: 1, fragile: ['fragile'] }

/** A log without a fault: a call without an answer, a repeated call, a failed task, and outcomes that are seen twice. */
const SOUND: readonly CrashLine[] = [
  { event: 'call', task: 0, tool: 'sturdy' },
  { event: 'accepted', task: 0, id: 'a', status: 'working' },
  { event: 'call', task: 1, tool: 'keyed', key: '1' },
  { event: 'unanswered', task: 1 },
  { event: 'call', task: 3, tool: 'sturdy' },
  { event: 'unanswered', task: 3 },
  { event: 'kill' },
  { event: 'call', task: 1, tool: 'keyed', key: '1' },
  { event: 'accepted', task: 1, id: 'b', status: 'working' },
  { event: 'call', task: 2, tool: 'fragile' },
  { event: 'accepted', task: 2, id: 'c', status: 'working' },
  { event: 'seen', task: 0, id: 'a', status: 'working' },
  { event: 'seen', task: 0, id: 'a', status: 'input_required' },
  { event: 'seen', task: 0, id: 'a', status: 'working' },
  { event: 'seen', task: 0, id: 'a', status: 'completed', outcome: '0:x' },
  { event: 'seen', task: 1, id: 'b', status: 'completed', outcome: '1:y' },
  { event: 'seen', task: 2, id: 'c', status: 'failed', outcome: '{"code":-32603}' },
  { event: 'seen', task: 0, id: 'a', status: 'completed', outcome: '0:x' },
]

const textOf = (lines: readonly CrashLine[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** The sound log with further lines at its end. */
const and = (...lines: readonly CrashLine[]): string => textOf([...SOUND, ...lines])

/** The sound log without some lines. */
const without = (isLeftOut: (line: CrashLine) => boolean): string =>
  textOf(SOUND.filter((line) => !isLeftOut(line)))

const PLANTED: readonly (readonly [planted: string, fault: CrashFault, log: string])[] = [
  ['a line that is cut', 'unreadable', `${textOf(SOUND)}{"event":"se`],
  ['an answer to nobody', 'unreadable', and({ event: 'missing', task: 9, id: 'z' })],
  ['a server that was never killed', 'too few kills', without(({ event }) => event === 'kill')],
  [
    'a server that was killed only after its work',
    'too few survivors',
    textOf([...SOUND.filter(({ event }) => event !== 'kill'), { event: 'kill' }]),
  ],
  ['an empty log', 'too few tasks', ''],
  ['a call that nobody logged', 'too few tasks', without((line) => 'task' in line && line.task === 2)],
  [
    'a call that was rejected',
    'rejected',
    and({ event: 'call', task: 4, tool: 'sturdy' }, { event: 'rejected', task: 4, error: 'full' }),
  ],
  ['an accepted task that is gone', 'lost', and({ event: 'missing', task: 0, id: 'a' })],
  ['a task that never ends', 'no outcome', without((line) => line.event === 'seen' && line.task === 1)],
  [
    'a call with a key that nobody answers',
    'no outcome',
    and({ event: 'call', task: 4, tool: 'keyed', key: '4' }, { event: 'unanswered', task: 4 }),
  ],
  [
    'two results of one task',
    'two outcomes',
    and({ event: 'seen', task: 0, id: 'a', status: 'completed', outcome: '0:other' }),
  ],
  [
    'a result after an error',
    'two outcomes',
    and({ event: 'seen', task: 2, id: 'c', status: 'completed', outcome: '2:x' }),
  ],
  ['work after the end', 'illegal path', and({ event: 'seen', task: 0, id: 'a', status: 'working' })],
  [
    'another end after the end',
    'illegal path',
    and({ event: 'seen', task: 0, id: 'a', status: 'cancelled', outcome: '0:x' }),
  ],
  [
    'a status that does not exist',
    'illegal path',
    and({ event: 'seen', task: 0, id: 'a', status: 'paused' }),
  ],
  [
    'the result of another task',
    'wrong outcome',
    textOf(
      SOUND.map((line) =>
        line.event === 'seen' && line.task === 1 && line.outcome ? { ...line, outcome: '0:x' } : line,
      ),
    ),
  ],
  [
    'a failure of a task that is tried again',
    'wrong outcome',
    textOf(
      SOUND.map((line) => (line.event === 'seen' && line.task === 1 ? { ...line, status: 'failed' } : line)),
    ),
  ],
  [
    'another task for the same key',
    'two tasks for a key',
    and(
      { event: 'call', task: 1, tool: 'keyed', key: '1' },
      { event: 'accepted', task: 1, id: 'd', status: 'completed' },
      { event: 'seen', task: 1, id: 'd', status: 'completed', outcome: '1:y' },
    ),
  ],
  [
    'one task for two calls',
    'shared id',
    and(
      { event: 'call', task: 4, tool: 'sturdy' },
      { event: 'accepted', task: 4, id: 'a', status: 'completed' },
    ),
  ],
]

test('a sound log has no faults', () => {
  expect(checkCrashLog(textOf(SOUND), EXPECTED)).toEqual({
    kills: 1,
    called: 4,
    accepted: 3,
    completed: 2,
    failed: 1,
    survived: 1,
    unanswered: 2,
    faults: [],
  })
})

test.each(PLANTED)('%s is found', (_, fault, log) => {
  expect(checkCrashLog(log, EXPECTED).faults.map((one) => one.fault)).toContain(fault)
})

test('every kind of fault is planted', () => {
  const kinds: Readonly<Record<CrashFault, true>> = {
    unreadable: true,
    'too few kills': true,
    'too few tasks': true,
    'too few survivors': true,
    rejected: true,
    lost: true,
    'no outcome': true,
    'two outcomes': true,
    'illegal path': true,
    'wrong outcome': true,
    'two tasks for a key': true,
    'shared id': true,
  }
  expect(new Set(PLANTED.map(([, fault]) => fault))).toEqual(new Set(Object.keys(kinds)))
})

test.each([
  [3, 'ended without notice 3 times', []],
  [2, 'ended without notice 3 times', ['wrong outcome']],
  [3, 'failed', ['wrong outcome']],
] as const)('after %i kills, a task that is tried again may fail or not: %s', (kills, outcome, faults) => {
  const log = and(
    { event: 'call', task: 4, tool: 'sturdy' },
    { event: 'accepted', task: 4, id: 'd', status: 'working' },
    ...Array<CrashLine>(kills).fill({ event: 'kill' }),
    { event: 'seen', task: 4, id: 'd', status: 'failed', outcome },
  )
  expect(checkCrashLog(log, EXPECTED).faults.map(({ fault }) => fault)).toEqual(faults)
})
