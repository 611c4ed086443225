import { expect, onTestFinished, test, vi } from 'vitest'
import type { Service } from '../../rpc/service.ts'
import { reportUncaught } from './uncaught.ts'

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const

interface Told {
  readonly service: Service
  readonly facts: unknown[]
  readonly counted: string[]
}

function told(): Told {
  const [facts, counted]: [unknown[], string[]] = [[], []]
  const observers = { count: (kind: string) => void counted.push(kind) }
  const report = (_level: string, _message: string, fact: unknown): void => void facts.push(fact)
  return { service: { observers, report } as unknown as Service, facts, counted }
}

/** Keeps those away who end the tests when an error escapes. */
function quiet(): void {
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

test('errors that escape are told to every server, at most once a second, with how many more there were', () => {
  quiet()
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const [one, two] = [told(), told()]
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

test('the process is left alone when the last server has ended, however often it ends', () => {
  quiet()
  const [one, two] = [reportUncaught(told().service), reportUncaught(told().service)]
  one()
  one()
  expect(listening()).toEqual([1, 1])
  two()
  expect(listening()).toEqual([0, 0])
  reportUncaught(told().service)()
  expect(listening()).toEqual([0, 0])
})
