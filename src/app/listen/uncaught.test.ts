import { expect, onTestFinished, test, vi } from 'vitest'
import type { Service } from '../../rpc/service.ts'
import { reportUncaught } from './uncaught.ts'

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

const listening = (): number[] => EVENTS.map((event) => process.listenerCount(event))

test('every server reports uncaught errors, at most one per second, with the number of others', () => {
  removeRunnerListeners()
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const [one, two] = [record(), record()]
  const ends = [reportUncaught(one.service), reportUncaught(two.service)]
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
  const [one, two] = [reportUncaught(record().service), reportUncaught(record().service)]
  one()
  one()
  expect(listening()).toEqual([1, 1])
  two()
  expect(listening()).toEqual([0, 0])
  reportUncaught(record().service)()
  expect(listening()).toEqual([0, 0])
})
