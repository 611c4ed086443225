import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import type { Client, Query } from './postgres-client.ts'
import { PostgresLink } from './postgres-link.ts'

/** An error as `pg` passes it on. */
const reply = (severity: string, code: string): Error =>
  Object.assign(new Error('a reply of the server'), { severity, code })

/** Connects over connections that answer as the test says; the last answer goes on. */
async function connections(...answers: readonly ((text: string) => void)[]) {
  const released: boolean[] = []
  const asked: string[] = []
  let opened = 0
  const connect = async (): Promise<Client> => {
    const nth = opened++
    const answer = answers[Math.min(nth, answers.length - 1)] as (text: string) => void
    return Object.assign(new EventEmitter(), {
      async query({ text }: Query) {
        if (nth <= 1) asked.push(`${nth} ${text}`)
        answer(text)
        return { rows: [] }
      },
      release: (isBroken: boolean) => void released.push(isBroken),
    }) as unknown as Client
  }
  const pool = Object.assign(new EventEmitter(), { connect })
  const link = new PostgresLink({
    connectionString: '',
    pool,
    place: 'here',
    schema: 'x',
    connections: 2,
    timeoutMs: 10_000,
  })
  const error = await link.query('SELECT 1', []).catch((thrown: unknown) => thrown)
  return { released, asked, error }
}

const refuse = (): never => {
  throw reply('ERROR', '42501')
}

test.each([
  ['a server that stops', 'FATAL', '57P01'],
  ['a server that crashed', 'PANIC', 'XX000'],
  ['a server that stops, in another language', 'FATALE', '57P01'],
  ['a server that takes the transaction of an idle process', 'FATAL', '25P03'],
])('the connection to %s does not return to the pool', async (_, severity, code) => {
  const { released } = await connections(() => {
    throw reply(severity, code)
  }, refuse)
  expect(released[0]).toBe(true)
})

test('a connection whose statement was rejected returns to the pool', async () => {
  const { released, error } = await connections(refuse)
  expect(released).toEqual([false])
  expect(error).toMatchObject({ kind: 'store_failed' })
})

test('a transaction is rolled back, unless the server has ended the connection', async () => {
  const failing =
    (severity: string, code: string) =>
    (text: string): void => {
      if (text.startsWith('BEGIN')) throw reply(severity, code)
    }
  // The first connection reads which tables there are.
  const read = (): void => undefined
  expect((await connections(read, failing('ERROR', '57014'), refuse)).asked).toContain('1 ROLLBACK')
  expect((await connections(read, failing('FATAL', '57P01'), refuse)).asked).not.toContain('1 ROLLBACK')
})
