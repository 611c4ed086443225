import { expect, test } from 'vitest'
import { inNextTurn } from './turn.ts'

test('work that waits again goes on after others had a turn, and after those that waited before it', async () => {
  const log: string[] = []
  await new Promise<void>((resolve) => {
    inNextTurn(() => {
      log.push('first')
      void Promise.resolve().then(() => log.push('reply'))
      inNextTurn(() => resolve(void log.push('first again')))
    })
    inNextTurn(() => log.push('second'))
  })
  expect(log).toEqual(['first', 'second', 'reply', 'first again'])
})
