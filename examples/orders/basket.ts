import { createServer, McpError, ToolError, type App, type ServerOptions } from 'pierhead'
import { z } from 'zod'
import { stockOf } from './store.ts'

/** A server whose clients fill baskets: one that lasts as long as their session, or some that they name. */
export function createBaskets(audit: (line: string) => void, options: Partial<ServerOptions> = {}): App {
  const app = createServer({ name: 'baskets', version: '1.0.0', ...options })

  app.tool(
    'put',
    { description: 'Puts an item into the basket.', input: z.object({ item: z.string() }) },
    async ({ item }, { session }) => {
      if (session === undefined) throw new ToolError('Baskets need a session; order single items instead.')
      const basket = [...((await session.get<string[]>('basket')) ?? []), item]
      await session.set('basket', basket)
      return `In the basket: ${basket.join(', ')}`
    },
  )

  const baskets = new Map<string, readonly string[]>()

  app.tool(
    'fill',
    {
      description: 'Puts an item into a basket: into a new one, or into that which an earlier call returned.',
      input: z.object({ item: z.string(), basket: z.string().optional() }),
      output: z.object({ basket: z.string(), items: z.array(z.string()) }),
    },
    ({ item, basket }) => {
      const before = basket === undefined ? [] : baskets.get(basket)
      if (before === undefined) throw new ToolError(`There is no basket "${basket}".`)
      const id = basket ?? crypto.randomUUID()
      const items = [...before, item]
      baskets.set(id, items)
      return { basket: id, items }
    },
  )

  app.tool('order', { description: 'Orders an item.', input: z.object({ item: z.string() }) }, ({ item }) => {
    if (stockOf(item) === 0)
      throw new McpError('custom', `${item} is sold out`, { code: 4009, data: { item, back: '2027-03-01' } })
    return `Ordered ${item}`
  })

  app.use('tools/call', async (ctx, next) => {
    audit(`${ctx.reference} ${ctx.method} of ${JSON.stringify(ctx.client.info?.name)}`)
    return next()
  })
  return app
}
