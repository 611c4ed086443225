import { expect, test, vi } from 'vitest'
import { Node } from '../../test/harness/task-engine.ts'
import { settled } from '../../test/harness/task-clock.ts'
import { DIALECTS } from '../protocol/switches.ts'
import { Call } from '../rpc/call.ts'
import { Session } from '../rpc/session.ts'
import { carry } from './task-carriers.ts'

const QUESTION = { method: 'elicitation/create', params: { message: 'Sure?' } }

/** A request for the result of a task, whose connection the test ends as it likes. */
class Request {
  readonly call: Call
  asked = 0
  isConnected = true
  end: unknown = 'waits'
  answer: (answer: Record<string, unknown>) => void = () => undefined
  leave: () => void = () => undefined

  constructor(session: Session) {
    this.call = new Call(1, 'tasks/result', {}, { peer: session, channel: channelOf(this), source: {} })
  }

  disconnect(): void {
    this.isConnected = false
    this.call.onDisconnect?.()
  }
}

function channelOf(request: Request): Call['channel'] {
  return {
    emit: () => undefined,
    get isConnected() {
      return request.isConnected
    },
    ask: () => {
      request.asked++
      return new Promise((resolve) => (request.answer = resolve))
    },
    onLeft: (listener) => void (request.leave = listener),
  }
}

/** A task, and a function with which a request waits for it. */
async function waitingFor(question: boolean, inFlight = 1024) {
  const node = new Node({ limits: { inFlight } }).tool('work', async (run) => {
    if (question) await run.question('sure', QUESTION)
    else await new Promise(() => undefined)
    return { content: [] }
  })
  const head = await node.start('work')
  await settled()
  const wait = async (session = new Session(DIALECTS)): Promise<Request> => {
    const request = new Request(session)
    carry(node.tasks, head, request.call).then(
      () => (request.end = 'done'),
      (error: { kind: string }) => (request.end = error.kind),
    )
    await settled()
    return request
  }
  return { node, head, wait }
}

test('a change of a task is looked at once, however many requests wait for it', async () => {
  const { node, head, wait } = await waitingFor(false)
  for (let count = 0; count < 20; count++) await wait()
  const find = vi.spyOn(node.tasks, 'find')
  node.tasks.followers.changed(head.id)
  await settled()
  expect(find).toHaveBeenCalledTimes(1)
  await node.tasks.cancel(head.id, 'ann')
})

test('a lost carrier is replaced by one request whose client is connected, and only a carrier is missed', async () => {
  const { node, wait } = await waitingFor(true)
  const session = new Session(DIALECTS)
  const [first, away, second, third] = [
    await wait(session),
    await wait(session),
    await wait(session),
    await wait(session),
  ]
  away.disconnect()
  const find = vi.spyOn(node.tasks, 'find')
  third.disconnect()
  await settled()
  expect(find).not.toHaveBeenCalled()
  third.isConnected = true
  first.disconnect()
  await settled()
  expect([first, away, second, third].map(({ asked }) => asked)).toEqual([1, 0, 1, 0])
  second.answer({ action: 'accept' })
  await settled()
  expect([first, away, second, third].map(({ end }) => end)).toEqual(['done', 'done', 'done', 'done'])
})

test.each([20, 80])('%i requests whose connections close at once look at the task once', async (count) => {
  const { node, wait } = await waitingFor(true)
  const all: Request[] = []
  for (let at = 0; at < count; at++) all.push(await wait())
  const find = vi.spyOn(node.tasks, 'find')
  for (const request of all) request.disconnect()
  await settled()
  expect(find).toHaveBeenCalledTimes(1)
  expect(all.every(({ asked }) => asked === 1)).toBe(true)
})

test('each session is asked once, while its client is connected', async () => {
  const { wait } = await waitingFor(true)
  const sessions = [new Session(DIALECTS), new Session(DIALECTS)]
  const all: Request[] = []
  for (let at = 0; at < 6; at++) all.push(await wait(sessions[at % 2]))
  expect(all.map(({ asked }) => asked)).toEqual([1, 1, 0, 0, 0, 0])
})

test('a request whose client left for good waits no longer', async () => {
  const { node, head, wait } = await waitingFor(true)
  const session = new Session(DIALECTS)
  const [first, second] = [await wait(session), await wait(session)]
  first.leave()
  await settled()
  expect([first.end, second.end, second.asked]).toEqual(['connection_closed', 'waits', 1])
  second.leave()
  await settled()
  const find = vi.spyOn(node.tasks, 'find')
  node.tasks.followers.changed(head.id)
  expect(find).not.toHaveBeenCalled()
})

test('one task has as many requests that wait as one caller; those whose client is away make room', async () => {
  const { wait } = await waitingFor(true, 3)
  const all = [await wait(), await wait(), await wait(), await wait()]
  expect(all.map(({ end }) => end)).toEqual(['waits', 'waits', 'waits', 'too_many_questions'])
  all[1]!.disconnect()
  const last = await wait()
  expect([last.end, last.asked, all[1]!.end]).toEqual(['waits', 1, 'too_many_questions'])
})

test('requests that wait end when the server closes, and when they are cancelled', async () => {
  const { node, wait } = await waitingFor(true)
  const [cancelled, other] = [await wait(), await wait()]
  cancelled.call.abort({ kind: 'gone' })
  await settled()
  expect([cancelled.end, other.end]).toEqual(['gone', 'waits'])
  node.tasks.endWaits()
  await settled()
  expect(other.end).toBe('shutting_down')
})
