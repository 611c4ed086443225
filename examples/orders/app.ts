import { createServer, defineTools, text, ToolError, type App } from 'pierhead'
import { z } from 'zod'
import type { OrderContext } from './context.ts'
import { addRefund } from './refund.ts'
import { find, idsStartingWith, load, pathsStartingWith, tenantOf } from './store.ts'

/** A server for orders that logs every call to `audit`. */
export function createOrders(audit: (line: string) => void): App<OrderContext> {
  const app = createServer({ name: 'orders', version: '1.4.0' }).provide(async (ctx) => ({
    tenant: await tenantOf(ctx.auth),
  }))

  app.tool(
    'search',
    {
      description: 'Full-text search',
      input: {
        type: 'object',
        properties: { q: { type: 'string' }, mode: { enum: ['fast', 'deep'] } },
        required: ['q'],
      },
      hints: { readOnly: true, idempotent: true },
      timeout: '20s',
      visible: (ctx) => ctx.tenant.plan !== 'free',
    },
    async function* ({ q, mode }, ctx) {
      for await (const hit of find(q, { mode, signal: ctx.signal })) yield text(hit.title)
    },
  )

  app.resource('orders://{id}/lines/{+path}', { mimeType: 'application/json' }, ({ id, path }) =>
    load(id, path),
  )
  app.prompt(
    'triage',
    { description: 'Looks at an order.', args: z.object({ id: z.string() }) },
    ({ id }) => `Triage order ${id}`,
  )
  app.complete('triage', 'id', (value) => idsStartingWith(value))
  app.complete('orders://{id}/lines/{+path}', 'id', (value) => idsStartingWith(value))
  app.complete('orders://{id}/lines/{+path}', 'path', (value, { id }) => pathsStartingWith(value, id))

  app.add(
    defineTools({
      find: {
        description: 'One order by its id.',
        input: z.object({ id: z.string() }),
        output: z.object({ id: z.string(), line: z.string() }),
        run: ({ id }) => {
          const found = load(id, '1')
          if (found === undefined) throw new ToolError('No such order', { id })
          return found
        },
      },
      plan: { description: 'The plan of the caller.', run: (_input, ctx: OrderContext) => ctx.tenant.plan },
    }),
  )
  addRefund(app)

  app.use('tools/call', async (ctx, next) => {
    const result = await next()
    audit(`${ctx.tenant.id} ${ctx.method} ${result['isError'] === true ? 'failed' : 'done'}`)
    return result
  })
  return app
}
