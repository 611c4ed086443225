import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { call, message } from '../http/messages.ts'
import { opened } from './child.ts'

const WARNING = 'something wrote to stdout'

test.each([
  ['after createServer and before listen', ['early'], 'after createServer, before listen'],
  ['after listen', ['late'], 'after listen'],
])('L.stdout output %s goes to stderr, with one warning [R061] [S0-3.4] [S4-3-3]', async (_, flags, said) => {
  const child = await opened(flags)
  await child.until(({ stderr }) => stderr.includes('listening'))
  expect(child.stderr).toContain(said)
  expect(child.stderr.split(WARNING)).toHaveLength(2)
  expect(child.messages).toHaveLength(1)
})

test('L.crash a crash is reported on stderr and leaves stdout clean [R061]', async () => {
  const child = await opened(['mortal'])
  child.send(call('crash', {}, 2))
  expect(await child.exited).toBe(1)
  expect(child.messages.map(({ id }) => id)).toEqual([1, 2])
  expect([child.rest, child.stderr]).toEqual(['', expect.stringContaining('nobody caught this')])
})

test('L.stdout the output of a tool goes to stderr, with one warning, and stdout stays clean [R061] [S0-3.4] [S4-3-3]', async () => {
  const child = await opened(['early', 'late'])
  child.send(call('shout', {}, 2), call('shout', {}, 3), message('ping', {}, 4))
  await child.reply(4)
  expect(child.messages.map(({ id }) => id)).toEqual([1, 2, 3, 4])
  await child.until(({ stderr }) => stderr.split('bytes\n').length === 3)
  for (const said of ['a line from console.log', 'another', 'and one from write', 'bytes']) {
    expect(child.stderr.split(said)).toHaveLength(3)
  }
  expect(child.stderr.split(WARNING)).toHaveLength(2)
})

test('L.stdout a server on stdio that also listens elsewhere keeps stdout clean, and answers everywhere [R061] [S2-0-4]', async () => {
  const child = await opened(['beside', 'early', 'late'])
  await child.until(({ stderr }) => stderr.includes('listening'))
  const addresses = [...child.stderr.matchAll(/^at (.+)$/gm)].map(([, address]) => address as string)
  expect(addresses.map((address) => new URL(address).protocol)).toEqual(['http:', 'tcp:'])
  for (const address of addresses) {
    await using client = await connect(address)
    expect(await client.call('shout')).toBe('shouted')
  }
  child.send(call('shout', {}, 2))
  await child.reply(2)
  expect(child.messages.map(({ id }) => id)).toEqual([1, 2])
  child.process.stdin.end()
  expect(await child.exited).toBe(0)
  expect(child.rest).toBe('')
})

test('L.stdout a second listen that fails leaves stdout guarded', async () => {
  const child = await opened(['beside', 'refused', 'late'])
  await child.until(({ stderr }) => stderr.includes('listening'))
  expect(child.stderr).toContain('again: refused')
  expect(child.stderr).toContain('after listen')
  child.send(call('shout', {}, 2))
  await child.reply(2)
  expect(child.messages.map(({ id }) => id)).toEqual([1, 2])
})
