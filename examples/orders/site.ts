import express, { type Express } from 'express'
import { createServer, type Auth } from 'pierhead'
import { z } from 'zod'

/** A site that knows its users and serves orders to them; `userOf` reads the Authorization header. */
export function createSite(userOf: (header: string | undefined) => Auth | undefined): Express {
  const app = createServer({ name: 'orders', version: '1.4.0' })

  app.tool(
    'cancel',
    { description: 'Cancels an order.', input: z.object({ id: z.string() }), scopes: ['orders:write'] },
    ({ id }, { auth }) => `${auth?.sub} cancelled order ${id}`,
  )

  const site = express()
  site.use('/mcp', (request, _response, next) => {
    Object.assign(request, { auth: userOf(request.get('authorization')) })
    next()
  })
  site.use('/mcp', app.node())
  return site
}
