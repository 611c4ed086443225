import { expect, test } from 'vitest'
import { createServer } from 'pierhead'
import { everyRevision, testClient } from 'pierhead/testing'
import { createHarbour } from '../../examples/demo/harbour.ts'
import { createLibrary } from '../../examples/library/app.ts'

everyRevision((revision) =>
  test(`the tide tool answers at ${revision}`, async () => {
    await using client = await testClient(createHarbour(), { revision })
    expect(await client.call('tide', { hour: 0 })).toEqual({ metres: 3, rising: true })
  }),
)

test('a berth is booked for the ship that the user names', async () => {
  await using client = await testClient(createHarbour(), {
    answers: { elicit: [{ action: 'accept', content: { ship: 'Gull' } }] },
  })
  expect(await client.call('book', { berth: 'A2' })).toBe('Berth A2 is booked for Gull.')
})

test('a client whose connection broke reconnects', async () => {
  await using client = await testClient(createHarbour())
  client.faults.drop()
  expect(await client.call('tide', { hour: 0 })).toMatchObject({ rising: true })
  const states = client.events.filter(({ kind }) => kind === 'state').map(({ value }) => value)
  expect(states).toEqual(['ready', 'reconnecting', 'ready'])
})

test('each reader sees only their own books', async () => {
  const app = createLibrary()
  await using ann = await testClient(app, { auth: { sub: 'ann' } })
  await using bob = await testClient(app, { auth: { sub: 'bob' } })
  await ann.call('borrow', { id: 'emma' })
  expect(await ann.resources().toArray()).toMatchObject([{ uri: 'books://emma' }])
  expect(await bob.resources().toArray()).toEqual([])
  await expect(bob.read('books://emma')).rejects.toMatchObject({ kind: 'unknown_resource' })
})

test('the radio reports every berth', async () => {
  await using client = await testClient(createHarbour())
  await client.call('radio')
  const progress = client.events.filter(({ kind }) => kind === 'progress').map(({ value }) => value)
  expect(progress).toMatchObject([{ message: 'A1: Petrel' }, { message: 'A2: nobody here' }, { progress: 3 }])
})

test('a task is started, and another client of the same caller resumes it', async () => {
  const app = createServer({ name: 'films', version: '1.0.0' })
  app.tool('render', { task: 'required' }, () => 'Tides.mp4')
  await using client = await testClient(app)
  const task = await client.start('render')
  expect(await task.result()).toBe('Tides.mp4')
  expect(await task.status()).toMatchObject({ status: 'completed' })
  const auth = { sub: 'ann' }
  await using first = await testClient(app, { auth })
  const { id = '' } = await first.start('render')
  await using second = await testClient(app, { auth })
  expect(await (await second.resume(id)).result()).toBe('Tides.mp4')
})

test('a call can be cancelled', async () => {
  await using client = await testClient(createHarbour())
  const stop = new AbortController()
  const call = client.call('radio', {}, { signal: stop.signal, onProgress: () => stop.abort() })
  await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
})

everyRevision((revision) =>
  test(`a change of a berth is announced at ${revision}`, async () => {
    const app = createHarbour()
    await using client = await testClient(app, { revision })
    const heard = new Promise((resolve) => client.on('change', resolve))
    await client.subscribe('harbour://berths/A2', () => undefined)
    app.updated('harbour://berths/A2')
    expect(await heard).toEqual({ kind: 'resource', uri: 'harbour://berths/A2' })
  }),
)

everyRevision((revision) =>
  test(`a berth is booked where the user can be asked, at ${revision}`, async () => {
    const elicit = () => ({ action: 'accept', content: { ship: 'Gull' } }) as const
    await using client = await testClient(createHarbour(), { revision, answers: { elicit } })
    const booked = await client.call('book', { berth: 'A2' }).catch((error: Error) => error.message)
    const canAsk = revision >= '2025-06-18'
    expect(booked).toMatch(canAsk ? /^Berth A2 is booked for Gull\.$/ : /the client cannot be asked/)
  }),
)
