import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import type { App } from 'pierhead'

/** Serves `app` at /mcp of a Hono site, here on Node. */
export function start(app: App, port: number): Server {
  const site = new Hono()
  site.all('/mcp', (c) => app.fetch(c.req.raw))
  return serve({ fetch: site.fetch, port, hostname: '127.0.0.1' }) as Server
}
