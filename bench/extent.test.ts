import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { failOnStall, startRound } from './extent.ts'
import { watchOtherPrograms } from './machine.ts'

test('a round of calls is over after so many, however long they take', () => {
  const isOver = startRound({ calls: 3 })
  expect([0, 1, 2, 3, 4].map(isOver)).toEqual([false, false, false, true, true])
})

test('a round of seconds is over after that time, however many calls were made', () => {
  fakeTime()
  const isOver = startRound({ seconds: 2 })
  vi.advanceTimersByTime(1999)
  expect(isOver(1_000_000)).toBe(false)
  vi.advanceTimersByTime(1)
  expect(isOver(0)).toBe(true)
})

test('a server that stops answering ends the round', async () => {
  fakeTime()
  let answers = 0
  const round = failOnStall(new Promise(() => undefined), () => answers)
  const failure = round.catch((error: Error) => error.message)
  for (let time = 0; time < 5; time++) {
    answers++
    await vi.advanceTimersByTimeAsync(9000)
  }
  expect(vi.getTimerCount()).toBe(1)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(await failure).toBe('an answer timed out')
  expect(vi.getTimerCount()).toBe(0)
})

test('a round that ends in time leaves no timer', async () => {
  fakeTime()
  expect(await failOnStall(Promise.resolve('done'), () => 0)).toBe('done')
  expect(vi.getTimerCount()).toBe(0)
})

test('other programs that use the machine are noticed', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("x"); for (;;);'])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const disturbed = watchOtherPrograms()
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(disturbed(0)).toBe(true)
  // The same time as that of our own programs does not disturb.
  expect(disturbed(Number.POSITIVE_INFINITY)).toBe(false)
})

function fakeTime(): void {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
}
