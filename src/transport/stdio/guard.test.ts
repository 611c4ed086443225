import process from 'node:process'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type * as Guard from './guard.ts'

let guard: typeof Guard
let out: string[]
let err: string[]
let exits: readonly NodeJS.ExitListener[]
let errors: readonly unknown[]
const tty = [process.stdin, process.stdout].map(
  (stream) => [stream, Object.getOwnPropertyDescriptor(stream, 'isTTY')] as const,
)

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  for (const [stream] of tty) isPerson(stream, false)
  out = recordOf(process.stdout)
  err = recordOf(process.stderr)
  exits = process.listeners('exit')
  errors = process.stderr.listeners('error')
  vi.resetModules()
  guard = await import('./guard.ts')
})

afterEach(() => {
  guard.releaseStdout()
  guard.unguardStdout()
  for (const listener of exitsAdded()) process.off('exit', listener)
  for (const listener of process.stderr.listeners('error')) {
    if (!errors.includes(listener)) process.stderr.off('error', listener as () => void)
  }
  vi.restoreAllMocks()
  vi.useRealTimers()
  for (const [stream, before] of tty) {
    if (before === undefined) Reflect.deleteProperty(stream, 'isTTY')
    else Object.defineProperty(stream, 'isTTY', before)
  }
})

function exitsAdded(): readonly NodeJS.ExitListener[] {
  return process.listeners('exit').filter((listener) => !exits.includes(listener))
}

function isPerson(stream: object, value: boolean): void {
  Object.defineProperty(stream, 'isTTY', { value, configurable: true, writable: true })
}

/** What reaches a stream. */
function recordOf(stream: NodeJS.WriteStream): string[] {
  const record: string[] = []
  vi.spyOn(stream, 'write').mockImplementation((chunk) => {
    record.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
    return true
  })
  return record
}

const WARNING: unknown = expect.stringMatching(/^pierhead: something wrote to stdout.*\n$/)

test('output to a guarded stdout goes to stderr, after one warning', () => {
  const write = guard.guardStdout()
  expect(err).toEqual([])
  process.stdout.write('one\n')
  process.stdout.write(Buffer.from('two\n'))
  write('a message\n')
  expect(err).toEqual([WARNING, 'one\n', 'two\n'])
  expect(out).toEqual(['a message\n'])
})

test('stdout stays guarded until everyone who guarded it is done', () => {
  guard.guardStdout()
  guard.guardStdout()
  const unguard = guard.keepGuard()
  for (const done of [guard.unguardStdout, unguard]) {
    done()
    process.stdout.write('guarded\n')
  }
  guard.unguardStdout()
  process.stdout.write('free\n')
  guard.keepGuard()()
  guard.unguardStdout()
  process.stdout.write('still free\n')
  expect([out, err.slice(1)]).toEqual([
    ['free\n', 'still free\n'],
    ['guarded\n', 'guarded\n'],
  ])
})

test.each([
  ['for two seconds', () => vi.advanceTimersByTime(2000)],
  ['until too much was held', () => process.stdout.write('x'.repeat(65_536))],
  ['until another transport opened', () => guard.releaseStdout()],
])('output that was held %s and is followed by the protocol gets one warning', (_, release) => {
  guard.holdStdout()
  process.stdout.write('loading\n')
  release()
  expect(out[0]).toBe('loading\n')
  expect(err).toEqual([])
  for (let round = 0; round < 2; round++) {
    guard.guardStdout()
    guard.unguardStdout()
  }
  expect(err).toEqual([expect.stringMatching(/^pierhead: output was written to stdout before.*onStart\.\n$/)])
})

test('a release without output gets no warning', () => {
  guard.holdStdout()
  guard.releaseStdout()
  guard.guardStdout()
  expect(err).toEqual([])
})

test('held output goes to stderr when stdout turns out to carry the protocol', () => {
  guard.holdStdout()
  process.stdout.write('early\n')
  expect([out, err]).toEqual([[], []])
  guard.guardStdout()
  expect(err).toEqual([WARNING, 'early\n'])
  guard.releaseStdout()
  process.stdout.write('late\n')
  expect([out, err.slice(2)]).toEqual([[], ['late\n']])
})

test('held output goes to stdout, in order, when stdout does not carry the protocol', () => {
  guard.holdStdout()
  process.stdout.write('one\n')
  process.stdout.write('two\n')
  guard.releaseStdout()
  process.stdout.write('three\n')
  expect([out, err]).toEqual([['one\n', 'two\n', 'three\n'], []])
})

test('stdout is restored when nothing is decided for two seconds', () => {
  guard.holdStdout()
  process.stdout.write('one\n')
  vi.advanceTimersByTime(1999)
  expect(out).toEqual([])
  vi.advanceTimersByTime(1)
  expect(out).toEqual(['one\n'])
})

test('stdout is restored when too much is held', () => {
  guard.holdStdout()
  process.stdout.write('x'.repeat(65_535))
  process.stdout.write('y')
  expect(out).toEqual([])
  process.stdout.write('z')
  expect(out.map((chunk) => chunk.length)).toEqual([65_535, 1, 1])
})

test('stdout may be held again, for as long as the first time', () => {
  guard.holdStdout()
  process.stdout.write('x'.repeat(65_536))
  vi.advanceTimersByTime(1500)
  guard.releaseStdout()
  guard.holdStdout()
  process.stdout.write('y'.repeat(65_536))
  vi.advanceTimersByTime(1999)
  expect(out).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(out).toHaveLength(2)
})

test('a process that holds stdout often waits for its exit only once', () => {
  for (let round = 0; round < 3; round++) {
    guard.holdStdout()
    guard.releaseStdout()
  }
  expect(exitsAdded()).toHaveLength(1)
})

test('held output is written when the process exits', () => {
  guard.holdStdout()
  process.stdout.write('last words\n')
  for (const listener of exitsAdded()) listener(0)
  expect(out).toEqual(['last words\n'])
})

test.each(['stdin', 'stdout'] as const)('nothing is held while %s is a terminal', (name) => {
  isPerson(process[name], true)
  guard.holdStdout()
  process.stdout.write('one\n')
  expect(out).toEqual(['one\n'])
})

test('write callbacks are called for held and diverted output', async () => {
  guard.holdStdout()
  await new Promise<void>((resolve) => void process.stdout.write('one\n', () => resolve()))
  guard.guardStdout()
  await new Promise<void>((resolve) => void process.stdout.write('two\n', 'utf8', () => resolve()))
  expect(err).toEqual([WARNING, 'one\n', 'two\n'])
})

test('a broken stderr does no harm', () => {
  guard.guardStdout()
  const before = process.stderr.listenerCount('error')
  process.stdout.write('one\n')
  process.stdout.write('two\n')
  expect(process.stderr.listenerCount('error')).toBe(before + 1)
})

test('writing nothing is no output', () => {
  guard.guardStdout()
  process.stdout.write('')
  expect([out, err]).toEqual([[], []])
})
