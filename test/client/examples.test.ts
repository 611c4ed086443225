import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Running } from 'pierhead'
import { book } from '../../examples/client/book.ts'
import { connectCarefully } from '../../examples/client/careful.ts'
import { inventory } from '../../examples/client/many.ts'
import { visit } from '../../examples/client/visit.ts'
import { createHarbour } from '../../examples/demo/harbour.ts'

let running: Running
beforeAll(async () => {
  running = await createHarbour().listen({ http: { port: 0 } })
})
afterAll(() => running.close())

test('the visitor sees the harbour', async () => {
  expect(await visit(running.url as string)).toEqual([
    'harbour speaks 2026-07-28',
    'tool tide',
    'tool radio',
    'tool book',
    'tide {"metres":3,"rising":true}',
    'heard A1: Petrel',
    'heard A2: nobody here',
    'heard B1: nobody here',
    '3 berths answered',
    'Berth A1 is taken by Petrel.',
  ])
})

test('the booker books a berth and hears of it', async () => {
  expect(await book(createHarbour(), 'B1', 'Gull')).toEqual(['B1 changed', 'Berth B1 is booked for Gull.'])
})

test('the careful client asks first', async () => {
  const asked: string[] = []
  await using client = await connectCarefully(createHarbour(), async (tool) => asked.push(tool) === 1)
  expect(await client.call('tide', { hour: 0 })).toMatchObject({ metres: 3 })
  await expect(client.call('radio')).rejects.toThrow('radio was not approved')
  expect(asked).toEqual(['tide', 'radio'])
})

test('the inventory names tools and failures', async () => {
  const config = {
    mcpServers: {
      harbour: { type: 'http', url: running.url as string },
      gone: { command: 'no-such-program-anywhere' },
    },
  }
  const lines = await inventory(config)
  expect(lines.slice(0, 3)).toEqual(['harbour.tide', 'harbour.radio', 'harbour.book'])
  expect(lines[3]).toMatch(/^gone failed: cannot connect to/)
})
