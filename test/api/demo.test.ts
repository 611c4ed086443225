import { describe, expect, test } from 'vitest'
import { everyRevision, testClient } from 'pierhead/testing'
import { createHarbour } from '../../examples/demo/harbour.ts'

everyRevision((revision) =>
  describe(`the demo harbour at ${revision}`, () => {
    const asks = revision >= '2025-06-18'

    test('tells the tide, as text and where the revision has it as structure', async () => {
      await using client = await testClient(createHarbour(), { revision })
      const { content, structuredContent } = await client.callRaw('tide', { hour: 0 })
      expect(content).toEqual([{ type: 'text', text: '{"metres":3,"rising":true}' }])
      expect(structuredContent).toEqual(asks ? { metres: 3, rising: true } : undefined)
    })

    test('streams the radio as progress', async () => {
      await using client = await testClient(createHarbour(), { revision })
      const heard: unknown[] = []
      const content = await client.call('radio', {}, { onProgress: ({ progress }) => heard.push(progress) })
      expect(content).toHaveLength(3)
      expect(heard).toEqual([1, 2, 3])
    })

    test('books a berth for the ship that the user names, or says why it cannot', async () => {
      const answers = { elicit: [{ action: 'accept' as const, content: { ship: `Gull ${revision}` } }] }
      await using client = await testClient(createHarbour(), { revision, answers })
      const told = await client.call('book', { berth: 'B1' }).catch((error: Error) => error.message)
      expect(told).toMatch(asks ? `Berth B1 is booked for Gull ${revision}.` : /cannot be asked/)
      await expect(client.call('book', { berth: 'A1' })).rejects.toThrow('Berth A1 is taken by Petrel.')
    })

    test('shows berths, completes their names, and prepares an arrival', async () => {
      await using client = await testClient(createHarbour(), { revision })
      const { contents } = await client.read('harbour://berths/A1')
      expect(contents[0]).toMatchObject({ text: '{"id":"A1","length":12,"ship":"Petrel"}' })
      expect((await client.complete('harbour://berths/{id}', { name: 'id', value: 'A' })).values).toEqual([
        'A1',
        'A2',
      ])
      const { messages } = await client.prompt('arrival', { ship: 'Tern' })
      expect(messages[0]?.content).toMatchObject({
        text: expect.stringContaining('The Tern arrives (now)') as string,
      })
    })
  }),
)
