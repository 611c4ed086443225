import type { Server } from 'node:http'
import fastify from 'fastify'
import type { App } from 'pierhead'

/** Serves `app` at /mcp of a Fastify site whose parsers do not read the messages. */
export async function start(app: App, port: number): Promise<Server> {
  const site = fastify()
  const serve = app.node()
  await site.register(async (mcp) => {
    mcp.removeAllContentTypeParsers()
    mcp.addContentTypeParser('*', (_request, _payload, done) => done(null))
    mcp.all('/mcp', (request, reply) => {
      reply.hijack()
      serve(request.raw, reply.raw)
    })
  })
  await site.listen({ port, host: '127.0.0.1' })
  return site.server
}
