import { expect, test } from 'vitest'
import { checkChaosLogs, type ChaosExpectations } from './chaos-checker.ts'
import type { ChaosLine } from './chaos-log.ts'

const NOTHING: ChaosExpectations = {
  tasks: 0,
  sessions: 0,
  kills: 0,
  nodeKills: 0,
  workerKills: 0,
  stops: 0,
  restarts: 0,
  workers: 0,
  drops: 0,
  survivors: 0,
  resumptions: 0,
  answers: 0,
}

const heard = (id: number, what: 'listed' | 'updated note://1' | ''): ChaosLine => ({
  event: 'received',
  client: 1,
  call: 'session',
  id: `s_${id}`,
  what,
})
const listed: readonly ChaosLine[] = [
  { event: 'touch', client: 9, id: 't', what: 'listed' },
  { event: 'touched', client: 9, id: 't', what: 'listed', text: '9' },
]
const unanswered: ChaosLine = { event: 'touch', client: 9, id: 't', what: 'listed' }
const touched: readonly ChaosLine[] = [
  { event: 'touch', client: 1, id: 't', what: 'updated' },
  { event: 'touched', client: 1, id: 't', what: 'updated', text: '1' },
]
const opened: ChaosLine = { event: 'opened', client: 1 }
const ready: ChaosLine = { event: 'ready', client: 1 }
const listens: ChaosLine = { event: 'listens', client: 1 }
const denied: ChaosLine = { event: 'denied', client: 1 }
const drained: ChaosLine = { event: 'drained', client: 1 }
const update = 'updated note://1'

function faultsIn(lines: readonly ChaosLine[], msApart = 1): readonly string[] {
  const text = lines.map((line, at) => `${JSON.stringify({ ...line, at: at * msApart })}\n`).join('')
  return checkChaosLogs([text], NOTHING).faults.map(({ fault }) => fault)
}

test.each<readonly [string, readonly ChaosLine[]]>([
  [
    'a change before the stream is open',
    [opened, ready, ...listed, listens, heard(0, 'listed'), heard(1, ''), drained],
  ],
  ['a change during the handshake', [opened, ...listed, ready, listens, heard(0, ''), drained]],
  [
    'a change before an attempt that was refused',
    [opened, ready, ...listed, listens, denied, listens, heard(0, 'listed'), drained],
  ],
  [
    'a change whose event was lost with a connection before the client had an id',
    [opened, ready, listens, ...listed, listens, heard(1, ''), drained],
  ],
  [
    'changes at the same time that are announced together',
    [opened, ready, listens, heard(0, ''), unanswered, ...listed, heard(1, 'listed'), drained],
  ],
  ['a change that may or may not have happened', [opened, ready, listens, heard(0, ''), unanswered, drained]],
  [
    'a change that is announced after an older one of the client itself',
    [opened, ready, listens, heard(0, ''), touched[0]!, ...listed, touched[1]!, heard(1, update)].concat(
      heard(2, 'listed'),
      drained,
    ),
  ],
  [
    'an own change without an answer, announced before',
    [opened, ready, listens, heard(0, ''), touched[0]!, ...listed, ...touched, heard(1, update)].concat(
      heard(2, 'listed'),
      heard(3, update),
      drained,
    ),
  ],
])('%s is no fault', (_, lines) => {
  expect(faultsIn(lines)).toEqual([])
})

test.each<readonly [string, readonly ChaosLine[]]>([
  ['a change before the stream is open', [opened, ready, ...listed, listens, heard(0, ''), drained]],
  [
    'an earlier change, although the last one is announced',
    [opened, ready, listens, heard(0, ''), ...listed, ...listed, heard(1, 'listed'), drained],
  ],
  [
    'a change that is announced after a later one',
    [opened, ready, listens, heard(0, ''), ...listed, ...touched, heard(1, update)].concat(
      heard(2, 'listed'),
      drained,
    ),
  ],
  [
    'a change after an announcement',
    [opened, ready, listens, heard(0, ''), ...listed, heard(1, 'listed'), ...listed, drained],
  ],
])('%s that a client does not hear of is a lost event', (_, lines) => {
  expect(faultsIn(lines)).toEqual(['lost event'])
})

test('an announcement of a change long before the session began is a duplicated event', () => {
  const lines = [...listed, opened, ready, listens, heard(0, 'listed'), drained]
  expect(faultsIn(lines)).toEqual([])
  expect(faultsIn(lines, 100_000)).toEqual(['duplicated event'])
})
