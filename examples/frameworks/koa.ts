import type { Server } from 'node:http'
import { bodyParser } from '@koa/bodyparser'
import Koa from 'koa'
import type { App } from 'pierhead'

/** Serves `app` at /mcp of a Koa site. */
export function start(app: App, port: number): Server {
  const site = new Koa()
  const serve = app.node()
  site.use(bodyParser())
  site.use((ctx, next) => {
    if (ctx.path !== '/mcp') return next()
    ctx.respond = false
    serve(ctx.req, ctx.res, ctx.request.body)
  })
  return site.listen(port, '127.0.0.1')
}
