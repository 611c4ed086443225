import type { Server } from 'node:http'
import express from 'express'
import type { App } from 'pierhead'

/** Serves `app` at /mcp of an Express site. */
export function start(app: App, port: number): Server {
  const site = express()
  site.use(express.json())
  site.use('/mcp', app.node())
  return site.listen(port, '127.0.0.1')
}
