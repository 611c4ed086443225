import express from 'express'
import { createServer } from 'pierhead'
import { oauth } from 'pierhead/auth'
import type { Server } from 'node:http'

/** A protected server in Express, next to pages for everyone. */
export function startSite(issuer: string, port: number): Server {
  const app = createServer({ name: 'notes', version: '1.0.0' })
  app.tool('whoami', { description: 'Says who calls.' }, (_, ctx) => `You are ${ctx.auth?.sub}.`)
  const auth = oauth({ issuer, resource: 'https://mcp.example/mcp' })
  const mcp = app.node({ auth })
  const site = express()
  site.use('/mcp', mcp)
  site.use('/.well-known/oauth-protected-resource', mcp)
  site.get('/', (_, response) => void response.send('Notes'))
  return site.listen(port, '127.0.0.1')
}
