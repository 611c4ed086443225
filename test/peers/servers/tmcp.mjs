import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { HttpTransport } from '@tmcp/transport-http'
import { StdioTransport } from '@tmcp/transport-stdio'
import { McpServer } from 'tmcp'
import * as facts from './facts.mjs'

const { said } = facts
const description = 'A tool'
const server = new McpServer(facts.ABOUT, {
  adapter: new ZodJsonSchemaAdapter(),
  instructions: facts.INSTRUCTIONS,
  capabilities: {
    logging: {},
    completions: {},
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
  },
})
const starting = (value) => ({ completion: { values: facts.starting(value), hasMore: false } })
const hints = { readOnlyHint: true }

server.tool({ name: 'echo', description, schema: facts.TEXT, annotations: hints }, ({ text }) => said(text))
server.tool({ name: 'add', description, schema: facts.SUMMANDS, outputSchema: facts.SUM }, facts.summed)
server.tool({ name: 'fail', description }, facts.failed)
server.tool({ name: 'crash', description }, () => {
  throw new Error('it crashed')
})
server.tool({ name: 'gallery', description }, facts.gallery)
server.tool({ name: 'count', description, schema: facts.STEPS }, ({ to }) => {
  for (let progress = 1; progress <= to; progress++) server.progress(progress, to, `step ${progress}`)
  return said('counted')
})
server.tool({ name: 'wait', description, schema: facts.NAME }, async ({ name }) => {
  server.progress(1)
  await facts.waitForEnd(name, server.ctx.signal ?? new AbortController().signal)
  return said('too late')
})
server.tool({ name: 'ended', description, schema: facts.NAME }, async ({ name }) =>
  said(await facts.whenEnded(name)),
)
server.tool({ name: 'speak', description }, () => {
  server.log('info', 'quiet')
  server.log('error', 'loud', 'mouth')
  return said('spoken')
})
server.tool({ name: 'ask', description, replayable: true }, async () =>
  said(JSON.stringify(await server.elicitation('Who?', facts.FORM_SCHEMA, { key: 'q' }))),
)
server.tool({ name: 'visit', description, replayable: true }, async () =>
  said((await server.elicitation('Pay', 'https://example.com/pay', { key: 'q' })).action),
)
server.tool({ name: 'joke', description, replayable: true }, async () =>
  said(JSON.stringify(await server.message(facts.QUESTION, { key: 'q' }))),
)
server.tool({ name: 'folders', description }, async () => {
  await server.refreshRoots()
  return said(JSON.stringify(server.roots))
})
server.tool({ name: 'grow', description }, () => {
  for (const kind of ['tools', 'prompts', 'resources']) server.changed(kind)
  return said('grown')
})
server.tool({ name: 'touch', description }, () => {
  server.changed('resource', 'note://hello')
  return said('touched')
})
server.resource({ name: 'hello', description, uri: 'note://hello', mimeType: 'text/plain' }, (uri) => ({
  contents: [{ uri, mimeType: 'text/plain', text: 'Hello' }],
}))
server.resource({ name: 'logo', description, uri: 'note://logo', mimeType: 'image/png' }, (uri) => ({
  contents: [{ uri, mimeType: 'image/png', blob: facts.PNG }],
}))
server.template(
  { name: 'city', description, uri: 'city://{name}', complete: { name: starting } },
  (uri, { name }) => ({
    contents: [{ uri, text: `city ${String(name)}` }],
  }),
)
server.prompt(
  { name: 'greet', description, schema: facts.NAME, complete: { name: starting } },
  ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
  }),
)

if (process.argv[2] === 'stdio') new StdioTransport(server).listen()
else serveHttp()

function serveHttp() {
  const transport = new HttpTransport(server, { path: '/mcp', allowedOrigins: true })
  const http = createServer(async (req, res) => {
    const stop = new AbortController()
    res.once('close', () => stop.abort())
    const body = req.method === 'POST' ? { body: Readable.toWeb(req), duplex: 'half' } : {}
    const request = new Request(`http://${req.headers.host}${req.url}`, {
      method: req.method,
      headers: Object.entries(req.headers),
      signal: stop.signal,
      ...body,
    })
    const response = (await transport.respond(request)) ?? new Response(null, { status: 404 })
    res.writeHead(response.status, Object.fromEntries(response.headers))
    res.flushHeaders()
    if (response.body === null) return res.end()
    const reader = response.body.getReader()
    res.once('close', () => void reader.cancel().catch(() => undefined))
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true }))
      if (done) return res.end()
      res.write(value)
    }
  })
  http.listen(0, '127.0.0.1', () => facts.announce(http.address().port))
}
