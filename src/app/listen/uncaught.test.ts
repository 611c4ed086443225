import { expect, onTestFinished, test, vi } from 'vitest'
import type { Service } from '../../rpc/service.ts'
import { watchUncaught } from './uncaught.ts'

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const

interface Recorder {
  readonly service: Service
  readonly facts: unknown[]
  readonly counted: string[]
}

function record(): Recorder {
  const [facts, counted]: [unknown[], string[]] = [[], []]
  const observers = { count: (kind: string) => void counted.push(kind) }
  const report = (_level: string, _message: string, fact: unknown): void => void facts.push(fact)
  return { service: { observers, report } as unknown as Service, facts, counted }
}

/** Removes the listeners of the test runner, which would fail the test when an error escapes. */
function removeRunnerListeners(): void {
  for (const event of EVENTS) {
    const listeners = process.listeners(event as 'exit')
    process.removeAllListeners(event)
    onTestFinished(() => {
      process.removeAllListeners(event)
      for (const listener of listeners) process.on(event as 'exit', listener as () => void)
    })
  }
}

/** The turn in which a server begins to listen still belongs to the start of the program. */
const started = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const listening = (): number[] => EVENTS.map((event) => process.listenerCount(event))

test('every server reports uncaught errors, at most one per second, with the number of others', async () => {
  removeRunnerListeners()
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const [one, two] = [record(), record()]
  const ends = [watchUncaught(one.service, false), watchUncaught(two.service, false)]
  await started()
  expect(listening()).toEqual([1, 1])
  const errors = ['a', 'b', 'c', 'd'].map((message) => new Error(message))
  process.emit('uncaughtException', errors[0] as Error)
  for (const error of errors.slice(1, 3)) process.emit('unhandledRejection', error, Promise.resolve())
  vi.advanceTimersByTime(1000)
  process.emit('uncaughtException', errors[3] as Error)
  for (const { facts, counted } of [one, two]) {
    expect(facts).toEqual([{ error: errors[0] }, { error: errors[3], more: 2 }])
    expect(counted).toEqual(Array(4).fill('unhandled'))
  }
  for (const end of ends) end()
})

test('the process handlers are removed when the last server closes, even if one closes twice', () => {
  removeRunnerListeners()
  const [one, two] = [watchUncaught(record().service, false), watchUncaught(record().service, false)]
  one()
  one()
  expect(listening()).toEqual([1, 1])
  two()
  expect(listening()).toEqual([0, 0])
  watchUncaught(record().service, false)()
  expect(listening()).toEqual([0, 0])
})

test('while one server wants the process to exit, nothing keeps it from that, and every server counts', () => {
  removeRunnerListeners()
  const [mortal, other] = [record(), record()]
  const ends = [watchUncaught(other.service, false), watchUncaught(mortal.service, true)]
  expect(listening()).toEqual([0, 0])
  process.emit('uncaughtExceptionMonitor' as 'uncaughtException', new Error('a'))
  expect([mortal.counted, other.counted]).toEqual([['unhandled'], ['unhandled']])
  ends[1]?.()
  expect(listening()).toEqual([1, 1])
  ends[0]?.()
  expect(process.listenerCount('uncaughtExceptionMonitor')).toBe(0)
})

test('a server that listens twice counts an error once, until both have closed', async () => {
  removeRunnerListeners()
  const { service, counted } = record()
  const ends = [watchUncaught(service, false), watchUncaught(service, false)]
  await started()
  ends[0]?.()
  expect(listening()).toEqual([1, 1])
  const third = watchUncaught(service, false)
  process.emit('uncaughtException', new Error('a'))
  expect(counted).toEqual(['unhandled'])
  ends[1]?.()
  third()
  expect(listening()).toEqual([0, 0])
})

test('an error while a second server begins to listen does not end the process', async () => {
  removeRunnerListeners()
  const [one, two] = [record(), record()]
  const ends = [watchUncaught(one.service, false)]
  await started()
  ends.push(watchUncaught(two.service, false))
  process.emit('uncaughtException', new Error('a'))
  expect(listening()).toEqual([1, 1])
  for (const end of ends) end()
})

test('an error while a program that has closed its server listens again does not end the process', async () => {
  removeRunnerListeners()
  watchUncaught(record().service, false)()
  await started()
  const end = watchUncaught(record().service, false)
  process.emit('uncaughtException', new Error('a'))
  expect(listening()).toEqual([1, 1])
  end()
})
