import { expect, test } from 'vitest'
import { everyRevision, testClient } from 'pierhead/testing'
import { createHarbour } from '../../examples/demo/harbour.ts'

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
