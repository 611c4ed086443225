import { expect, test } from 'vitest'
import { Group } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { failure, meet, text, tool, until, type Met } from './peer.ts'

const TEN = Array.from({ length: 10 }, (_, at) => at)
/** A name in the group that only the list of the server could explain. */
const changed = (at: number): string => `s__t${at}_0123456789`

interface Listing extends Met {
  readonly group: Group
}

/** A group of one server whose lists have this many pages, and which says what it is called with. */
async function grouped(pages: number, page: (at: number) => JsonObject = () => ({})): Promise<Listing> {
  const met = await meet(
    'memory',
    ({ method = '', params }, wire) => {
      if (method === 'tools/call') return wire.reply(text(String(params['name'])))
      if (!method.endsWith('/list')) return false
      const at = Number(params['cursor'] ?? 0)
      const items = { tools: [], resources: [], resourceTemplates: [], prompts: [], ...page(at) }
      return wire.reply({ ...items, ...(at + 1 < pages && { nextCursor: String(at + 1) }) })
    },
    { limits: { pages: 20 } },
  )
  return { ...met, group: new Group(new Map([['s', met.client]]), new Map()) }
}

test('many calls with names that are not listed read the list once', async () => {
  const { group, count } = await grouped(5, () => ({ tools: [tool('a.b')] }))
  const called = await Promise.all(TEN.map((at) => group.call(changed(at))))
  expect(called).toEqual(TEN.map(changed))
  expect(count('tools/list')).toBe(5)
  const prompts = await Promise.all(TEN.map((at) => group.prompt(changed(at))))
  expect([prompts.length, count('prompts/list')]).toEqual([10, 5])
})

test('a list that is too large is not read again for each call', async () => {
  const { group, count } = await grouped(Infinity)
  for (let times = 0; times < 3; times++)
    for (const one of await Promise.all(TEN.map((at) => failure(group.call(changed(at))))))
      expect(one).toMatchObject({ kind: 'answer_too_large' })
  expect(count('tools/list')).toBe(20)
  expect(await group.call('s__plain')).toBe('plain')
})

test('readings of large lists at the same time are given up if they are too large together, over a client and a group', async () => {
  const description = 'x'.repeat(4_000_000)
  const { group, client } = await grouped(15, (at) => ({ tools: [tool(`t${at}`, { description })] }))
  const together = await Promise.allSettled(TEN.map(() => client.tools().toArray()))
  const failed = together.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  expect(failed.length).toBeGreaterThanOrEqual(8)
  for (const reason of failed) expect(reason).toMatchObject({ kind: 'answer_too_large' })
  expect(await client.tools().toArray()).toHaveLength(15)
  const inGroup = await Promise.all(TEN.map(() => group.tools().toArray()))
  expect(inGroup.filter((tools) => tools.length > 0).length).toBeLessThanOrEqual(2)
  expect(await group.tools().toArray()).toHaveLength(15)
})

test('many readings of lists of the usual size work at the same time', async () => {
  const { group, client } = await grouped(5, (at) => ({
    tools: [tool(`t${at}`, { description: 'x'.repeat(1e4) })],
  }))
  const lists = await Promise.all(TEN.flatMap(() => [client.tools().toArray(), group.tools().toArray()]))
  for (const tools of lists) expect(tools).toHaveLength(5)
})

test('those who call as another user read the list for themselves', async () => {
  const { group, count } = await grouped(1)
  await Promise.all(TEN.map((at) => group.call(changed(at), {}, { meta: { user: at } })))
  expect(count('tools/list')).toBe(10)
})

test('many reads of resources read each list once', async () => {
  const { group, count } = await grouped(5, (at) => ({ resources: [{ uri: `note://${at}`, name: 'one' }] }))
  const reads = await Promise.all(TEN.map((at) => group.read(`note://${at % 5}`)))
  expect(reads).toHaveLength(10)
  expect(count('resources/list')).toBe(5)
  await Promise.allSettled(TEN.map((at) => group.read(`none://${at}`)))
  expect([count('resources/list'), count('resources/templates/list')]).toEqual([10, 5])
})

test('a resource that is found is read, though the list fails for others who look for theirs', async () => {
  const { group } = await grouped(Infinity, (at) => ({ resources: [{ uri: `note://${at}`, name: 'one' }] }))
  const first = failure(group.read('none://0'))
  const others = [group.read('note://0'), group.read('note://1'), failure(group.read('none://1'))]
  expect(await first).toMatchObject({ kind: 'bad_option' })
  const [zero, one, none] = await Promise.all(others)
  expect([zero, one]).toMatchObject([
    { contents: [{ uri: 'note://0' }] },
    { contents: [{ uri: 'note://1' }] },
  ])
  expect(none).toMatchObject({ kind: 'bad_option' })
})

test('a changed name leads to the item that had it first, without listing everything', async () => {
  const { group } = await grouped(3, (at) => ({ tools: [tool(`t.${at}`), tool('plain')] }))
  const [other] = await grouped(1, () => ({ tools: [tool('t.2')] })).then((one) =>
    one.group.tools().toArray(),
  )
  expect(await group.call(String(other?.name))).toBe('t.2')
})

test('one caller that gives up does not end the list of the others', async () => {
  const held: (() => void)[] = []
  const { client, count } = await meet('memory', ({ method, params }, wire) => {
    if (method === 'tools/call') return wire.reply(text(String(params['name'])))
    return method === 'tools/list' && held.push(() => wire.reply({ tools: [] }))
  })
  const group = new Group(new Map([['s', client]]), new Map())
  const controllers = TEN.map(() => new AbortController())
  const calls = controllers.map(({ signal }, at) => group.call(changed(at), {}, { signal }))
  const all = Promise.allSettled(calls)
  await until(() => held.length === 1)
  for (const controller of controllers.slice(0, 9)) controller.abort()
  await until(() => held.length === 2)
  for (const release of held) release()
  expect((await all).map(({ status }) => status)).toEqual([
    ...TEN.slice(1).map(() => 'rejected'),
    'fulfilled',
  ])
  expect(count('tools/list')).toBe(2)
  const last = new AbortController()
  const alone = failure(group.call(changed(0), {}, { signal: last.signal }))
  await until(() => held.length === 3)
  last.abort()
  expect(await alone).toMatchObject({ kind: 'cancelled' })
  await until(() => count('notifications/cancelled') > 0)
})
