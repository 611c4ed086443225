import { expect, test } from 'vitest'
import { checkChaosLogs, type ChaosFault, type SessionFault } from './chaos-checker.ts'
import type { ChaosLine } from './chaos-log.ts'

const EXPECTED = { tasks: 2, sessions: 2, kills: 1, survivors: 1, resumptions: 1, answers: 2 }

/** A log without a fault: of tasks, an answer, an error because of a kill, changes, values, and streams that are resumed. */
const SOUND: readonly ChaosLine[] = [
  { event: 'call', task: 0, tool: 'sturdy' },
  { event: 'accepted', task: 0, id: 'a', status: 'working' },
  { event: 'effect', task: 0, tool: 'sturdy', run: 'x' },
  { event: 'call', task: 1, tool: 'fragile' },
  { event: 'accepted', task: 1, id: 'b', status: 'working' },
  { event: 'effect', task: 1, tool: 'fragile', run: 'y' },
  { event: 'opened', client: 1 },
  { event: 'opened', client: 2 },
  { event: 'called', client: 1, call: 'c', marker: 'm', steps: 3 },
  { event: 'received', client: 1, call: 'c', id: 'r_0', what: '' },
  { event: 'received', client: 1, call: 'c', id: 'r_1', what: 'progress 1' },
  { event: 'resumed', client: 1, call: 'c', after: 'r_1' },
  { event: 'received', client: 1, call: 'c', id: 'r_2', what: 'progress 2' },
  { event: 'fault', kind: 'kill', target: 'node 1' },
  { event: 'received', client: 1, call: 'c', id: 'r_3', what: 'progress 3' },
  { event: 'received', client: 1, call: 'c', id: 'r_4', what: 'response' },
  { event: 'answered', client: 1, call: 'c', text: 'm' },
  { event: 'called', client: 1, call: 'd', marker: 'n', steps: 0 },
  { event: 'asked', client: 1, call: 'd', marker: 'n' },
  { event: 'answered', client: 1, call: 'd', text: 'n n' },
  { event: 'called', client: 2, call: 'e', marker: 'o', steps: 9 },
  { event: 'received', client: 2, call: 'e', id: 'q_0', what: 'progress 1' },
  { event: 'failed', client: 2, call: 'e', kind: 'node_lost' },
  { event: 'called', client: 2, call: 'f', marker: 'p', steps: 9 },
  { event: 'abandoned', client: 2, call: 'f' },
  { event: 'keep', client: 1, value: 1 },
  { event: 'kept', client: 1, value: 1, last: 0 },
  { event: 'keep', client: 1, value: 2 },
  { event: 'keep', client: 1, value: 3 },
  { event: 'kept', client: 1, value: 3, last: 2 },
  { event: 'effect', task: 0, tool: 'sturdy', run: 'z' },
  { event: 'seen', task: 0, id: 'a', status: 'completed', outcome: '0:z' },
  { event: 'seen', task: 1, id: 'b', status: 'failed', outcome: '{}' },
  { event: 'received', client: 1, call: 'session', id: 's_0', what: '' },
  { event: 'received', client: 2, call: 'session', id: 's_0', what: '' },
  { event: 'touch', client: 1, what: 'listed' },
  { event: 'touched', client: 1, what: 'listed' },
  ...[1, 2].flatMap((client): readonly ChaosLine[] => [
    { event: 'touch', client, what: 'updated' },
    { event: 'touch', client, what: 'updated' },
    { event: 'touched', client, what: 'updated' },
    { event: 'received', client, call: 'session', id: 's_1', what: 'listed' },
    { event: 'received', client, call: 'session', id: 's_2', what: `updated note://${client}` },
    { event: 'drained', client },
  ]),
]

const textOf = (lines: readonly ChaosLine[]): string =>
  lines.map((line, at) => `${JSON.stringify({ ...line, at })}\n`).join('')

/** The sound log with further lines at its end. */
const and = (...lines: readonly ChaosLine[]): string => textOf([...SOUND, ...lines])

/** The sound log without the lines that have these members. */
const without = (members: Readonly<Record<string, unknown>>): string =>
  textOf(SOUND.filter((line) => !has(line, members)))

/** The sound log with members of some lines replaced. */
const replaced = (members: Readonly<Record<string, unknown>>, by: object): string =>
  textOf(SOUND.map((line) => (has(line, members) ? { ...line, ...by } : line)))

function has(line: object, members: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(members).every(([name, value]) => Reflect.get(line, name) === value)
}

const ofSession = (client: number, id: string, what: string): ChaosLine => ({
  event: 'received',
  client,
  call: 'session',
  id,
  what,
})

const PLANTED: readonly (readonly [planted: string, fault: ChaosFault, log: string])[] = [
  ['a line that is cut', 'unreadable', `${textOf(SOUND)}{"event":"se`],
  ['a line without a time', 'unreadable', `${textOf(SOUND)}{"event":"fault"}`],
  ['an empty log', 'too few tasks', ''],
  ['no kill', 'too few kills', without({ event: 'fault' })],
  ['a task without an outcome', 'no outcome', without({ event: 'seen', task: 0 })],
  ['a task that is gone', 'lost', and({ event: 'missing', task: 0, id: 'a' })],
  [
    'two outcomes',
    'two outcomes',
    and({ event: 'seen', task: 0, id: 'a', status: 'completed', outcome: '0:x' }),
  ],
  [
    'a handler that ran twice',
    'repeated effect',
    and({ event: 'effect', task: 1, tool: 'fragile', run: 'w' }),
  ],
  ['a result of no handler', 'no effect', without({ event: 'effect', run: 'z' })],
  ['no sessions', 'too few sessions', without({ event: 'opened' })],
  ['no resumption', 'too few resumptions', without({ event: 'resumed' })],
  ['calls without answers', 'too few answers', without({ event: 'answered', call: 'd' })],
  ['a session that is gone', 'lost session', and({ event: 'gone', client: 1 })],
  ['a request that is refused', 'refused', and({ event: 'refused', client: 1, error: '500' })],
  ['a call without an answer', 'no answer', without({ event: 'answered', call: 'c' })],
  ['a stream that nobody read to the end', 'no answer', without({ event: 'drained', client: 2 })],
  ['two answers', 'two answers', and({ event: 'answered', client: 1, call: 'c', text: 'm' })],
  ['the answer of another client', 'wrong client', replaced({ event: 'answered', call: 'c' }, { text: 'o' })],
  [
    'an answer to the question of another',
    'wrong client',
    replaced({ event: 'answered', call: 'd' }, { text: 'n o' }),
  ],
  ['the question of another client', 'wrong client', replaced({ event: 'asked' }, { marker: 'o' })],
  [
    'an answer to a call of another',
    'wrong client',
    and({ event: 'answered', client: 2, call: 'c', text: 'm' }),
  ],
  ['a change of another', 'wrong client', replaced({ id: 's_2', client: 1 }, { what: 'updated note://2' })],
  [
    'events of another call',
    'wrong client',
    and({ event: 'received', client: 2, call: 'c', id: 'r_5', what: '' }),
  ],
  ['a lost node without a fault', 'wrong failure', without({ event: 'fault' })],
  ['an error that nobody explains', 'wrong failure', replaced({ event: 'failed' }, { kind: 'internal' })],
  ['a missing event', 'lost event', without({ id: 'r_2' })],
  ['a missing event at the end', 'lost event', without({ id: 'r_3' })],
  ['a missing number', 'lost event', and(ofSession(1, 's_4', ''))],
  ['a missing change', 'lost event', without({ id: 's_2', client: 1 })],
  ['a missing change of a list', 'lost event', without({ what: 'listed', client: 2 })],
  ['an event twice', 'duplicated event', and(ofSession(1, 's_2', ''))],
  ['progress twice', 'duplicated event', replaced({ id: 'r_2' }, { what: 'progress 1' })],
  [
    'a change twice',
    'duplicated event',
    and(...[3, 4].map((id) => ofSession(1, `s_${id}`, 'updated note://1'))),
  ],
  ['a changed list twice', 'duplicated event', and(ofSession(2, 's_3', 'listed'))],
  ['an event out of order', 'reordered event', replaced({ id: 'r_3' }, { id: 'q_1' })],
  ['progress out of order', 'reordered event', replaced({ id: 'r_3' }, { what: 'progress 1' })],
  [
    'an older value',
    'lost value',
    and({ event: 'keep', client: 1, value: 4 }, { event: 'kept', client: 1, value: 4, last: 1 }),
  ],
]

test('a sound log has no faults', () => {
  expect(checkChaosLogs([textOf(SOUND)], EXPECTED)).toEqual({
    kills: 1,
    called: 2,
    accepted: 2,
    completed: 1,
    failed: 1,
    survived: 2,
    unanswered: 0,
    effects: 3,
    sessions: 2,
    calls: 4,
    answered: 2,
    failedCalls: 1,
    abandoned: 1,
    events: 12,
    resumptions: 1,
    done: { kill: 1, stop: 0, redis: 0, postgres: 0 },
    faults: [],
  })
})

test('lines of several logs are put in order by their time', () => {
  const lines = textOf(SOUND).split('\n')
  const texts = [0, 1].map((odd) => lines.filter((_, at) => at % 2 === odd).join('\n'))
  expect(checkChaosLogs(texts, EXPECTED).faults).toEqual([])
})

test.each(PLANTED)('%s is found', (_, fault, log) => {
  expect(checkChaosLogs([log], EXPECTED).faults.map((one) => one.fault)).toContain(fault)
})

test('every kind of fault in sessions is planted', () => {
  const kinds: Readonly<Record<SessionFault, true>> = {
    'repeated effect': true,
    'no effect': true,
    'too few sessions': true,
    'too few resumptions': true,
    'too few answers': true,
    'lost session': true,
    refused: true,
    'no answer': true,
    'two answers': true,
    'wrong client': true,
    'wrong failure': true,
    'lost event': true,
    'duplicated event': true,
    'reordered event': true,
    'lost value': true,
  }
  const planted = new Set<string>(PLANTED.map(([, fault]) => fault))
  expect(Object.keys(kinds).filter((kind) => !planted.has(kind))).toEqual([])
})
