import { expect, test } from 'vitest'
import type { Dialects } from '../protocol/switches.ts'
import { Session } from './session.ts'

function createSession(notified?: string[]): Session {
  const notify = notified === undefined ? undefined : (method: string) => void notified.push(method)
  return new Session({} as Dialects, notify)
}

test('closing rejects the questions that the client has not answered, and runs the closers once', async () => {
  const session = createSession()
  const closed: number[] = []
  session.onClose(() => void closed.push(1))
  session.onClose(() => void closed.push(2))
  const options = { signal: new AbortController().signal, timeoutMs: Infinity, cancel: () => undefined }
  const answer = session.pending.ask('roots/list', () => undefined, options)
  session.close()
  await expect(answer).rejects.toMatchObject({ kind: 'connection_closed' })
  const late = session.pending.ask('roots/list', () => undefined, options)
  await expect(late).rejects.toMatchObject({ kind: 'connection_closed' })
  session.close()
  expect(closed).toEqual([1, 2])
})

test('a session without questions and closers closes too', () => {
  expect(() => createSession().close()).not.toThrow()
})

test('actions wait until the client is ready, each key once and in order', () => {
  const session = createSession()
  const done: string[] = []
  session.whenReady(() => void done.push('first'), 'a')
  session.whenReady(() => void done.push('again'), 'a')
  session.whenReady(() => void done.push('second'), 'b')
  expect(done).toEqual([])
  session.setReady()
  expect(done).toEqual(['first', 'second'])
  session.whenReady(() => void done.push('at once'), 'a')
  session.setReady()
  expect(done).toEqual(['first', 'second', 'at once'])
})

test('few actions wait, so that clients that never are ready take little memory', () => {
  const session = createSession()
  let count = 0
  for (let key = 0; key < 33; key++) session.whenReady(() => count++, key)
  session.setReady()
  expect(count).toBe(32)
})

test('only a session with a way to its client is reachable', () => {
  const notified: string[] = []
  const session = createSession(notified)
  session.notify('notifications/x', {})
  expect([session.reachable, notified]).toEqual([true, ['notifications/x']])
  expect(createSession().reachable).toBe(false)
  expect(() => createSession().notify('notifications/x', {})).not.toThrow()
})

test('what is to happen when the client is gone happens at once if it is gone already', () => {
  const session = createSession()
  const closed: string[] = []
  session.onClose(() => closed.push('before'))
  session.close()
  session.onClose(() => closed.push('after'))
  expect(closed).toEqual(['before', 'after'])
})
