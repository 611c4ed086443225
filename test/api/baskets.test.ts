import { describe, expect, test } from 'vitest'
import { everyRevision, testClient } from 'pierhead/testing'
import { McpError, ToolError } from 'pierhead'
import { createBaskets } from '../../examples/orders/basket.ts'

everyRevision((revision) =>
  describe(`baskets at ${revision}`, () => {
    test('last as long as the session, where there is one', async () => {
      const app = createBaskets(() => undefined)
      await using client = await testClient(app, { revision })
      await using other = await testClient(app, { revision })
      const put = (by: typeof client, item: string): Promise<unknown> =>
        by.call('put', { item }).catch((error: unknown) => (error as ToolError).message)
      const answers = [await put(client, 'rope'), await put(client, 'paint'), await put(other, 'anchor')]
      const none = 'Baskets need a session; order single items instead.'
      expect(answers).toEqual(
        revision === '2026-07-28'
          ? [none, none, none]
          : ['In the basket: rope', 'In the basket: rope, paint', 'In the basket: anchor'],
      )
    })

    test('are found again by the id that a tool returned, with and without sessions', async () => {
      const app = createBaskets(() => undefined)
      await using client = await testClient(app, { revision })
      await using other = await testClient(app, { revision })
      const { basket } = (await client.call('fill', { item: 'rope' })) as { readonly basket: string }
      expect(await other.call('fill', { item: 'paint', basket })).toEqual({
        basket,
        items: ['rope', 'paint'],
      })
      expect(await client.call('fill', { item: 'anchor' })).toMatchObject({ items: ['anchor'] })
      await expect(client.call('fill', { item: 'anchor', basket: 'x' })).rejects.toThrow('no basket "x"')
    })

    test('a code of the server tells clients what happened', async () => {
      await using client = await testClient(
        createBaskets(() => undefined),
        { revision },
      )
      const error = await client.call('order', { item: 'anchor' }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(McpError)
      expect(error).toMatchObject({
        kind: 'custom',
        code: 4009,
        message: 'anchor is sold out',
        data: { item: 'anchor', back: '2027-03-01' },
      })
    })

    test('the reference of a masked error is in the log and in the audit', async () => {
      const audited: string[] = []
      const logged: unknown[] = []
      const log = (_level: string, _message: string, facts?: object): void => void logged.push(facts)
      await using client = await testClient(
        createBaskets((line) => audited.push(line), { log }),
        { revision },
      )
      const error = await client.call('order', { item: 'sail' }).catch((thrown: unknown) => thrown as Error)
      const [, reference = ''] =
        /^tool "order" failed \(reference (.+)\)$/.exec((error as Error).message) ?? []
      expect(audited).toEqual([expect.stringContaining(`${reference} `)])
      expect(logged).toMatchObject([{ reference, error: { message: 'no such item: sail' } }])
    })

    test('a server that shows errors sends the message', async () => {
      const options = { errors: 'show', log: () => undefined } as const
      await using client = await testClient(
        createBaskets(() => undefined, options),
        { revision },
      )
      const error = await client.call('order', { item: 'sail' }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ToolError)
      expect((error as Error).message).toBe('no such item: sail')
    })
  }),
)
