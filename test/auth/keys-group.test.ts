import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createKeys } from '../../src/auth.ts'
import { connect, connectAll, type ClientKeys, type Group, type GroupOptions } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import type { Target } from '../../src/client/target.ts'
import { failureOf } from '../harness/failure.ts'
import { command, folder, who } from './keys-child.ts'

const file = (name: string): string => join(folder, name)
const anna = createKeys(file('anna.pem'))
const berta = createKeys(file('berta.pem'))
const server = createKeys(file('server.pem')).publicKey
const keys: ClientKeys = { own: anna, server }
const ledger = command({ clients: [{ key: anna.publicKey, sub: 'anna' }], own: file('server.pem') })
const RELAY = fileURLToPath(new URL('keys-relay.mjs', import.meta.url))

async function together(config: Record<string, Target>, options?: GroupOptions): Promise<Group> {
  const group = await connectAll(config, options)
  onTestFinished(() => group.close())
  return group
}

test('a group does not prove one key to several programs, which could pass the proof on [K.relay]', async () => {
  const error = await failureOf(connectAll({ ledger, other: ledger }, { keys }))
  expect(error).toMatchObject({ kind: 'bad_option' })
  expect(error.message).toContain(
    'connectAll keys: every program of the group could pass your proof on to another',
  )
  expect(error.message).toContain('{ command, keys }')
})

test.each([
  ['no keys', undefined],
  ['keys of its own', { own: berta }],
])('a hostile program with %s gets nothing from the server of another [K.relay]', async (nth, own) => {
  const loot = file(`${nth}.json`)
  const evil = { command: process.execPath, args: [RELAY, loot, ledger.command, ...ledger.args], keys: own }
  const group = await together({ ledger: { ...ledger, keys }, evil })
  expect([...group.clients.keys()]).toEqual(['ledger'])
  expect(await who(group.clients.get('ledger')!)).toMatchObject({ sub: 'anna' })
  expect(existsSync(loot)).toBe(false)
})

test('a proof that is meant for a hostile program can be passed on, as the guide says', async () => {
  const loot = file('loot.json')
  const evil = { command: process.execPath, args: [RELAY, loot, ledger.command, ...ledger.args], keys }
  await together({ ledger: { ...ledger, keys }, evil })
  await expect.poll(() => existsSync(loot)).toBe(true)
})

test('the keys of a group are for its only program, and those of connect come before those of the program', async () => {
  const group = await together({ ledger, local: createServer({ name: 'local', version: '1' }) }, { keys })
  expect(await who(group.clients.get('ledger')!)).toMatchObject({ sub: 'anna' })
  const both = await connect({ ...ledger, keys: { own: berta } }, { keys })
  onTestFinished(() => both.close())
  expect(await who(both)).toMatchObject({ sub: 'anna' })
})

test('keys in a configuration that are not keys are a mistake', async () => {
  const group = await together({
    a: { ...ledger, keys: 'key.pem' as never },
    b: { ...ledger, keys: {} as never },
  })
  expect([...group.failures.values()].map(({ message }) => message)).toEqual([
    expect.stringContaining('connectAll "a": keys'),
    expect.stringContaining('connectAll "b": connect keys: own'),
  ])
})
