import { createServer, ToolError, type App, type Context } from 'pierhead'
import * as z from 'zod'
import { findUser, importRow, readRows, type User } from './store.ts'

export type UserContext = Context & { readonly user: User }

/** A server for records, with a user in the context of every handler. */
export function createRecords(): App<UserContext> {
  const app = createServer({ name: 'records', version: '1.0.0' }).provide(async (ctx) => ({
    user: await findUser(ctx.auth?.sub),
  }))

  app.tool(
    'import',
    {
      description: 'Imports a file of records.',
      input: z.object({ file: z.string() }),
      hints: { destructive: false, idempotent: true },
      timeout: '5m',
    },
    async ({ file }, { signal, progress, log, user }) => {
      const rows = await readRows(file, { signal })
      for (const [index, row] of rows.entries()) {
        signal.throwIfAborted()
        await importRow(user, row)
        progress(index + 1, rows.length, row.name)
        if (row.isOld) log.warning('an old record', { name: row.name })
      }
      return `Imported ${rows.length} records for ${user.name}.`
    },
  )

  app.tool(
    'forget',
    {
      description: 'Deletes everything.',
      hints: { destructive: true },
      visible: (ctx) => ctx.user.isAdmin,
    },
    async (_input, { client, elicit }) => {
      if (!client.supports('elicitation')) throw new ToolError('This client cannot ask for confirmation.')
      const answer = await elicit('Delete everything?', z.object({ sure: z.boolean() }))
      return answer.action === 'accept' && answer.content.sure
        ? 'Everything is gone.'
        : 'Nothing was deleted.'
    },
  )

  app.use('tools/call', async (ctx, next) => {
    const began = performance.now()
    try {
      return await next()
    } finally {
      const ms = Math.round(performance.now() - began)
      console.error(`${ctx.reference} ${ctx.user.name} ${JSON.stringify(ctx.params['name'])} ${ms} ms`)
    }
  })
  return app
}
