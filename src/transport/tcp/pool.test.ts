import type { Message } from '../../protocol/jsonrpc.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LATEST } from '../../protocol/revisions.ts'
import type { ClientTransport, TransportEvents, OutgoingRequest } from '../../rpc/client-transport.ts'
import { pooled } from './pool.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** A transport, in order of opening, and what was done with it. */
interface Opening {
  readonly events: TransportEvents
  readonly did: string[]
  resolve(): void
  reject(): void
}

/** A pool of two at the newest revision; every transport but the first opens when the test says so. */
async function open(): Promise<{ readonly line: ClientTransport; readonly openings: Opening[] }> {
  const openings: Opening[] = []
  const openLine = (events: TransportEvents): Promise<ClientTransport> =>
    new Promise((resolve, reject) => {
      const did: string[] = []
      const line: ClientTransport = {
        cancels: 'message',
        request: ({ id }) => (did.push(`request ${id}`), Promise.resolve({} as Message)),
        send: (text) => (did.push(text), Promise.resolve()),
        agree: (revision) => void did.push(revision),
        close: () => (did.push('close'), Promise.resolve()),
      }
      const isFirst = openings.length === 0
      openings.push({ events, did, resolve: () => resolve(line), reject: () => reject(new Error('no')) })
      if (isFirst) resolve(line)
    })
  const events = { onMessage: () => undefined, onDown: () => expect.fail('the first line is not lost') }
  const line = await pooled(openLine, 2)(events)
  line.agree(LATEST)
  return { line, openings }
}

/** Sends a request that belongs to the second transport. */
async function request(line: ClientTransport, id: number): Promise<void> {
  await line.request({ id } as OutgoingRequest)
  await settled()
}

/** Lets what is resolved arrive. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const DOWN = new Error('down')

async function refuse(opening: Opening): Promise<void> {
  opening.reject()
  await settled()
}

async function lose(opening: Opening): Promise<void> {
  opening.resolve()
  await settled()
  opening.events.onDown(DOWN)
}

async function loseEarly(opening: Opening): Promise<void> {
  opening.events.onDown(DOWN)
  opening.resolve()
  await settled()
}

test.each([
  ['cannot be opened', refuse],
  ['is lost', lose],
  ['is lost before it is handed over', loseEarly],
])('a line that %s is done without for a second, and then opened again', async (_, end) => {
  const { line, openings } = await open()
  for (const id of [1, 3]) await request(line, id)
  expect(openings).toHaveLength(2)
  await end(openings[1]!)
  vi.advanceTimersByTime(999)
  await request(line, 5)
  expect(openings).toHaveLength(2)
  vi.advanceTimersByTime(1)
  for (const id of [7, 9]) await request(line, id)
  expect(openings).toHaveLength(3)
  openings[2]!.resolve()
  await settled()
  await request(line, 11)
  expect(openings[0]!.did).toEqual([LATEST, ...[1, 3, 5, 7, 9].map((id) => `request ${id}`)])
  expect(openings[1]!.did).not.toContain('request 5')
  expect(openings[2]!.did).toEqual([LATEST, 'request 11'])
})

test('closing closes every transport, including those that open only then', async () => {
  const { line, openings } = await open()
  await request(line, 1)
  openings[1]!.resolve()
  await settled()
  await line.close()
  expect(openings.map(({ did }) => did.at(-1))).toEqual(['close', 'close'])
  const late = await open()
  await request(late.line, 1)
  expect(late.openings[1]!.events.signal?.aborted).toBe(false)
  await late.line.close()
  expect(late.openings[1]!.events.signal?.aborted).toBe(true)
  late.openings[1]!.resolve()
  await settled()
  expect(late.openings[1]!.did).toEqual(['close'])
})

test('a cancellation goes to every transport, and anything else to the first', async () => {
  const { line, openings } = await open()
  await request(line, 1)
  openings[1]!.resolve()
  await settled()
  const cancelled = '{"method":"notifications/cancelled"}'
  for (const text of ['{"method":"notifications/progress"}', cancelled]) await line.send(text)
  expect(openings[0]!.did.slice(-2)).toEqual(['{"method":"notifications/progress"}', cancelled])
  expect(openings[1]!.did).toEqual([LATEST, cancelled])
})
