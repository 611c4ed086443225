import { text, type App } from 'pierhead'
import { z } from 'zod'
import type { OrderContext } from './context.ts'
import { release, reserve } from './store.ts'

/** A tool that asks the user, the model and the client. */
export function addRefund(app: App<OrderContext>): void {
  app.tool(
    'refund',
    { description: 'Refunds an order.', input: z.object({ id: z.string() }) },
    async ({ id }, ctx) => {
      const hold = await ctx.once('hold', () => reserve(id))
      const answer = await ctx.elicit('Refund how much?', z.object({ amount: z.number().max(500) }))
      if (answer.action !== 'accept') return release(hold)
      ctx.progress(1, 2, 'refunding')
      ctx.log.info('refund', { id })
      const summary = await ctx.sample({
        messages: [{ role: 'user', content: text(`Summarise the refund of order ${id}`) }],
        maxTokens: 200,
      })
      const folders = await ctx.roots()
      return `Refunded ${answer.content.amount} on ${hold}, summarised by ${summary.model}, filed in ${folders[0]?.uri}`
    },
  )
}
