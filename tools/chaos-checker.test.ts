import { expect, test } from 'vitest'
import { checkChaosLogs, type ChaosFault, type SessionFault } from './chaos-checker.ts'
import type { ChaosLine } from './chaos-log.ts'

const EXPECTED = {
  tasks: 2,
  sessions: 2,
  kills: 2,
  nodeKills: 1,
  workerKills: 1,
  stops: 1,
  restarts: 1,
  workers: 1,
  drops: 1,
  survivors: 1,
  resumptions: 1,
  answers: 2,
}

/** A log without a fault: of tasks, an answer, an error because of a kill, changes, values, and streams that are resumed. */
const SOUND: readonly ChaosLine[] = [
  { event: 'began', target: 'node 1', pid: 11, shiftMs: 0 },
  { event: 'began', target: 'node 2', pid: 12, shiftMs: 90_000 },
  { event: 'began', target: 'worker 1', pid: 13, shiftMs: 0 },
  { event: 'call', task: 0, tool: 'sturdy' },
  { event: 'accepted', task: 0, id: 'a', status: 'working' },
  { event: 'effect', task: 0, tool: 'sturdy', run: 'x', by: 'node 1' },
  { event: 'call', task: 1, tool: 'fragile' },
  { event: 'dropped', what: 'task' },
  { event: 'accepted', task: 1, id: 'b', status: 'working' },
  { event: 'effect', task: 1, tool: 'fragile', run: 'y', by: 'node 2' },
  { event: 'opened', client: 1 },
  { event: 'opened', client: 2 },
  { event: 'called', client: 1, call: 'c', marker: 'm', steps: 3, asks: 0 },
  { event: 'served', client: 1, call: 'c', node: 'node 2' },
  { event: 'received', client: 1, call: 'c', id: 'r_0', what: '' },
  { event: 'received', client: 1, call: 'c', id: 'r_1', what: 'progress 1', token: 'c' },
  { event: 'resumed', client: 1, call: 'c', after: 'r_1' },
  { event: 'received', client: 1, call: 'c', id: 'r_2', what: 'progress 2', token: 'c' },
  { event: 'called', client: 2, call: 'e', marker: 'o', steps: 9, asks: 0 },
  { event: 'served', client: 2, call: 'e', node: 'node 1' },
  { event: 'received', client: 2, call: 'e', id: 'q_0', what: 'progress 1', token: 'e' },
  { event: 'fault', kind: 'kill', target: 'node 1', pid: 11 },
  { event: 'fault', kind: 'kill', target: 'worker 1', pid: 13 },
  { event: 'received', client: 1, call: 'c', id: 'r_3', what: 'progress 3', token: 'c' },
  { event: 'received', client: 1, call: 'c', id: 'r_4', what: 'response' },
  { event: 'answered', client: 1, call: 'c', id: 'c', text: 'm' },
  { event: 'called', client: 1, call: 'd', marker: 'n', steps: 0, asks: 1 },
  { event: 'asked', client: 1, call: 'd', marker: 'n' },
  { event: 'answered', client: 1, call: 'd', id: 'd', text: 'n n' },
  { event: 'failed', client: 2, call: 'e', id: 'e', kind: 'node_lost' },
  { event: 'called', client: 2, call: 'f', marker: 'p', steps: 9, asks: 0 },
  { event: 'abandoned', client: 2, call: 'f' },
  { event: 'began', target: 'node 1', pid: 14, shiftMs: 0 },
  { event: 'began', target: 'worker 1', pid: 15, shiftMs: 0 },
  { event: 'back', target: 'node 1' },
  { event: 'back', target: 'worker 1' },
  ...(['redis', 'postgres'] as const).flatMap((kind): readonly ChaosLine[] => [
    { event: 'fault', kind, target: kind },
    { event: 'back', target: kind },
  ]),
  { event: 'fault', kind: 'stop', target: 'node 2' },
  { event: 'back', target: 'node 2' },
  { event: 'keep', client: 1, id: 'k1', value: 101 },
  { event: 'kept', client: 1, id: 'k1', value: 101, last: 0 },
  { event: 'keep', client: 1, id: 'k2', value: 102 },
  { event: 'dropped', what: 'post' },
  { event: 'keep', client: 1, id: 'k3', value: 103 },
  { event: 'kept', client: 1, id: 'k3', value: 103, last: 102 },
  { event: 'effect', task: 0, tool: 'sturdy', run: 'z', by: 'worker 1' },
  { event: 'seen', task: 0, id: 'a', status: 'completed', outcome: '0:z' },
  { event: 'seen', task: 1, id: 'b', status: 'failed', outcome: '{}' },
  { event: 'received', client: 1, call: 'session', id: 's_0', what: '' },
  { event: 'received', client: 2, call: 'session', id: 's_0', what: '' },
  { event: 'touch', client: 1, id: 't', what: 'listed' },
  { event: 'touched', client: 1, id: 't', what: 'listed', text: '1' },
  ...[1, 2].flatMap((client): readonly ChaosLine[] => [
    { event: 'touch', client, id: 't1', what: 'updated' },
    { event: 'touch', client, id: 't2', what: 'updated' },
    { event: 'touched', client, id: 't2', what: 'updated', text: `${client}` },
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

/** The sound log with further lines before that with these members. */
function before(members: Readonly<Record<string, unknown>>, ...lines: readonly ChaosLine[]): string {
  const at = SOUND.findIndex((line) => has(line, members))
  return textOf(SOUND.toSpliced(at, 0, ...lines))
}

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
  ['no kill of a node with the right time', 'too few node kills', replaced({ pid: 11 }, { shiftMs: 90_000 })],
  ['no kill of a worker', 'too few worker kills', without({ event: 'fault', target: 'worker 1' })],
  [
    'a kill of a process that was dead',
    'false kill',
    before({ event: 'began', pid: 14 }, { event: 'fault', kind: 'kill', target: 'node 1', pid: 11 }),
  ],
  [
    'a kill of a process that ended by itself',
    'false kill',
    before({ event: 'fault', target: 'node 1' }, { event: 'exited', target: 'node 1', pid: 11 }),
  ],
  ['a kill of an older process', 'false kill', replaced({ event: 'fault', target: 'node 1' }, { pid: 10 })],
  ['no stop', 'too few stops', without({ event: 'fault', kind: 'stop' })],
  ['a stop for ever', 'too few stops', without({ event: 'back', target: 'node 2' })],
  ['no restart of Redis', 'too few restarts', without({ event: 'fault', target: 'redis' })],
  ['a Redis that stays away', 'too few restarts', without({ event: 'back', target: 'redis' })],
  ['no restart of PostgreSQL', 'too few restarts', without({ event: 'fault', target: 'postgres' })],
  ['workers that never run anything', 'too few workers', replaced({ by: 'worker 1' }, { by: 'node 1' })],
  ['polls that nobody breaks off', 'too few drops', without({ event: 'dropped', what: 'task' })],
  ['requests that nobody breaks off', 'too few drops', without({ event: 'dropped', what: 'post' })],
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
    and({ event: 'effect', task: 1, tool: 'fragile', run: 'w', by: 'node 1' }),
  ],
  ['a result of no handler', 'no effect', without({ event: 'effect', run: 'z' })],
  ['no sessions', 'too few sessions', without({ event: 'opened' })],
  ['no resumption', 'too few resumptions', without({ event: 'resumed' })],
  ['calls without answers', 'too few answers', without({ event: 'answered', call: 'd' })],
  ['a session that is gone', 'lost session', and({ event: 'gone', client: 1 })],
  ['a request that is refused', 'refused', and({ event: 'refused', client: 1, error: '500' })],
  ['a call without an answer', 'no answer', without({ event: 'answered', call: 'c' })],
  ['a stream that nobody read to the end', 'no answer', without({ event: 'drained', client: 2 })],
  ['two answers', 'two answers', and({ event: 'answered', client: 1, call: 'c', id: 'c', text: 'm' })],
  [
    'a second response on a stream',
    'two answers',
    and({ event: 'received', client: 1, call: 'c', id: 'r_5', what: 'response' }),
  ],
  [
    'progress after the response',
    'two answers',
    and({ event: 'received', client: 1, call: 'c', id: 'r_5', what: 'progress 4', token: 'c' }),
  ],
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
    and({ event: 'answered', client: 2, call: 'c', id: 'c', text: 'm' }),
  ],
  [
    'a touch with the answer of another',
    'wrong client',
    replaced({ event: 'touched', client: 1 }, { text: '2' }),
  ],
  ['progress with the token of another', 'wrong client', replaced({ id: 'r_2' }, { token: 'e' })],
  ['progress without a token', 'wrong client', replaced({ id: 'r_2' }, { token: undefined })],
  [
    'progress of a call in the stream of the session',
    'wrong client',
    and({ event: 'received', client: 1, call: 'session', id: 's_3', what: 'progress 1', token: 'c' }),
  ],
  [
    'the value of another client',
    'wrong client',
    and(
      { event: 'keep', client: 2, id: 'k1', value: 201 },
      { event: 'kept', client: 2, id: 'k1', value: 201, last: 103 },
    ),
  ],
  ['a value that two clients keep', 'unreadable', and({ event: 'keep', client: 2, id: 'k1', value: 101 })],
  ['a response with the id of another', 'wrong id', replaced({ event: 'answered', call: 'c' }, { id: 'd' })],
  ['a response without an id', 'wrong id', replaced({ event: 'answered', call: 'c' }, { id: undefined })],
  ['an error with the id of another', 'wrong id', replaced({ event: 'failed' }, { id: 'c' })],
  ['a value with the id of another', 'wrong id', replaced({ event: 'kept', value: 103 }, { id: 'k2' })],
  ['a touch with the id of another', 'wrong id', replaced({ event: 'touched', client: 1 }, { id: 't1' })],
  ['a change of another', 'wrong client', replaced({ id: 's_2', client: 1 }, { what: 'updated note://2' })],
  [
    'events of another call',
    'wrong client',
    and({ event: 'received', client: 2, call: 'c', id: 'r_5', what: '' }),
  ],
  ['a lost node without a fault', 'wrong failure', without({ event: 'fault' })],
  ['a lost node that lives', 'wrong failure', replaced({ event: 'served', call: 'e' }, { node: 'node 2' })],
  ['a lost call that reached no node', 'wrong failure', without({ event: 'served', call: 'e' })],
  [
    'a call that is lost with a node that was killed before',
    'wrong failure',
    and(
      { event: 'called', client: 2, call: 'g', marker: 'p', steps: 9, asks: 0 },
      { event: 'served', client: 2, call: 'g', node: 'node 1' },
      { event: 'failed', client: 2, call: 'g', id: 'g', kind: 'node_lost' },
    ),
  ],
  [
    'two calls of a client that are lost with one kill',
    'wrong failure',
    before(
      { event: 'fault' },
      { event: 'called', client: 2, call: 'g', marker: 'p', steps: 9, asks: 0 },
      { event: 'served', client: 2, call: 'g', node: 'node 1' },
    ) +
      textOf([{ event: 'failed', client: 2, call: 'g', id: 'g', kind: 'node_lost' }]).replace(
        '"at":0',
        '"at":99',
      ),
  ],
  [
    'a lost store that was not away',
    'wrong failure',
    replaced({ event: 'failed' }, { kind: 'store_unreachable' }).replaceAll('"redis"', '"postgres"'),
  ],
  ['a call that gets no answer without a fault', 'wrong failure', without({ event: 'fault' })],
  [
    'very many calls without an answer',
    'too many lost calls',
    before(
      { event: 'began', pid: 14 },
      ...Array.from({ length: 15 }, (_, at): readonly ChaosLine[] => [
        { event: 'called', client: 2, call: `g${at}`, marker: 'p', steps: 9, asks: 0 },
        { event: 'abandoned', client: 2, call: `g${at}` },
      ]).flat(),
    ),
  ],
  ['an error that nobody explains', 'wrong failure', replaced({ event: 'failed' }, { kind: 'internal' })],
  [
    'a question that comes twice',
    'wrong questions',
    before({ event: 'answered', call: 'd' }, { event: 'asked', client: 1, call: 'd', marker: 'n' }),
  ],
  ['a question that never comes', 'wrong questions', without({ event: 'asked' })],
  [
    'a question of a call that asks nothing',
    'wrong questions',
    before({ event: 'answered', call: 'c' }, { event: 'asked', client: 1, call: 'c', marker: 'm' }),
  ],
  [
    'a question of our own client that comes three times',
    'wrong questions',
    and(
      { event: 'called', client: 9, call: 'g', marker: 'p', steps: 0, asks: 1, isOurs: true },
      ...[1, 2, 3].map((): ChaosLine => ({ event: 'asked', client: 9, call: 'g', marker: 'p' })),
      { event: 'answered', client: 9, call: 'g', text: 'p p' },
    ),
  ],
  ['an event of another stream', 'wrong stream', replaced({ id: 'r_2' }, { id: 'q_2' })],
  ['a stream that begins in another one', 'wrong stream', replaced({ id: 's_0', client: 1 }, { id: 'r_0' })],
  [
    'a stream that begins at number 7',
    'lost event',
    and(
      { event: 'called', client: 1, call: 'g', marker: 'p', steps: 1, asks: 0 },
      { event: 'received', client: 1, call: 'g', id: 'p_7', what: 'progress 1', token: 'g' },
      { event: 'answered', client: 1, call: 'g', id: 'g', text: 'p' },
    ),
  ],
  [
    'a session whose stream begins at number 7',
    'lost event',
    and({ event: 'opened', client: 3 }, { event: 'listens', client: 3 }, ofSession(3, 's_7', '')),
  ],
  [
    'a session that opens its stream twice and misses far too many events',
    'lost event',
    and(
      { event: 'opened', client: 3 },
      { event: 'listens', client: 3 },
      { event: 'listens', client: 3 },
      ofSession(3, 's_7', ''),
    ),
  ],
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
    and(
      { event: 'keep', client: 1, id: 'k4', value: 104 },
      { event: 'kept', client: 1, id: 'k4', value: 104, last: 101 },
    ),
  ],
]

test('a sound log has no faults', () => {
  expect(checkChaosLogs([textOf(SOUND)], EXPECTED)).toEqual({
    kills: 2,
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
    done: { kill: 2, stop: 1, redis: 1, postgres: 1 },
    nodeKills: 1,
    workerKills: 1,
    ran: { 'node 1': 1, 'node 2': 1, 'worker 1': 1 },
    drops: { task: 1, post: 1 },
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
    'false kill': true,
    'too few node kills': true,
    'too few worker kills': true,
    'too few stops': true,
    'too few restarts': true,
    'too few workers': true,
    'too few drops': true,
    'too few sessions': true,
    'too few resumptions': true,
    'too few answers': true,
    'lost session': true,
    refused: true,
    'no answer': true,
    'two answers': true,
    'wrong client': true,
    'wrong id': true,
    'wrong stream': true,
    'wrong questions': true,
    'too many lost calls': true,
    'wrong failure': true,
    'lost event': true,
    'duplicated event': true,
    'reordered event': true,
    'lost value': true,
  }
  const planted = new Set<string>(PLANTED.map(([, fault]) => fault))
  expect(Object.keys(kinds).filter((kind) => !planted.has(kind))).toEqual([])
})
