import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { completable } from '@modelcontextprotocol/sdk/server/completable.js'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import * as facts from './facts.mjs'

const { said } = facts

function createPeer() {
  const server = new McpServer(facts.ABOUT, {
    instructions: facts.INSTRUCTIONS,
    capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } },
  })
  const shape = (schema) => schema.shape
  server.registerTool(
    'echo',
    { inputSchema: shape(facts.TEXT), annotations: { readOnlyHint: true } },
    ({ text }) => said(text),
  )
  server.registerTool(
    'add',
    { inputSchema: shape(facts.SUMMANDS), outputSchema: shape(facts.SUM) },
    facts.summed,
  )
  server.registerTool('fail', {}, facts.failed)
  server.registerTool('crash', {}, () => {
    throw new Error('it crashed')
  })
  server.registerTool('gallery', {}, facts.gallery)
  server.registerTool(
    'count',
    { inputSchema: shape(facts.STEPS) },
    async ({ to }, { _meta, sendNotification }) => {
      for (let progress = 1; progress <= to; progress++) {
        const params = {
          progressToken: _meta.progressToken,
          progress,
          total: to,
          message: `step ${progress}`,
        }
        await sendNotification({ method: 'notifications/progress', params })
      }
      return said('counted')
    },
  )
  server.registerTool(
    'wait',
    { inputSchema: shape(facts.NAME) },
    async ({ name }, { signal, _meta, sendNotification }) => {
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken: _meta.progressToken, progress: 1 },
      })
      await facts.waitForEnd(name, signal)
      return said('too late')
    },
  )
  server.registerTool('ended', { inputSchema: shape(facts.NAME) }, async ({ name }) =>
    said(await facts.whenEnded(name)),
  )
  server.registerTool('speak', {}, async ({ sessionId }) => {
    await server.sendLoggingMessage({ level: 'info', data: 'quiet' }, sessionId)
    await server.sendLoggingMessage({ level: 'error', data: 'loud', logger: 'mouth' }, sessionId)
    return said('spoken')
  })
  server.registerTool('ask', {}, async () =>
    said(JSON.stringify(await server.server.elicitInput({ message: 'Who?', requestedSchema: facts.FORM }))),
  )
  server.registerTool('visit', {}, async () => {
    const elicitationId = randomUUID()
    const { action } = await server.server.elicitInput({
      mode: 'url',
      message: 'Pay',
      url: 'https://example.com/pay',
      elicitationId,
    })
    await server.server.createElicitationCompletionNotifier(elicitationId)()
    return said(action)
  })
  server.registerTool('joke', {}, async () =>
    said(JSON.stringify(await server.server.createMessage(facts.QUESTION))),
  )
  server.registerTool('folders', {}, async () =>
    said(JSON.stringify((await server.server.listRoots()).roots)),
  )
  let extras = 0
  server.registerTool('grow', {}, () => {
    const name = `extra-${++extras}`
    server.registerTool(name, {}, () => said('extra'))
    server.registerPrompt(name, {}, () => ({ messages: [] }))
    server.registerResource(name, `note://${name}`, {}, (uri) => ({
      contents: [{ uri: uri.href, text: 'extra' }],
    }))
    return said('grown')
  })
  server.registerTool('touch', {}, async () => {
    await server.server.sendResourceUpdated({ uri: 'note://hello' })
    return said('touched')
  })
  server.registerResource('hello', 'note://hello', { mimeType: 'text/plain' }, () => ({
    contents: [{ uri: 'note://hello', mimeType: 'text/plain', text: 'Hello' }],
  }))
  server.registerResource('logo', 'note://logo', { mimeType: 'image/png' }, () => ({
    contents: [{ uri: 'note://logo', mimeType: 'image/png', blob: facts.PNG }],
  }))
  server.registerResource(
    'city',
    new ResourceTemplate('city://{name}', { list: undefined, complete: { name: facts.starting } }),
    {},
    (uri, { name }) => ({ contents: [{ uri: uri.href, text: `city ${String(name)}` }] }),
  )
  const args = { name: completable(z.string(), facts.starting) }
  server.registerPrompt('greet', { argsSchema: args }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
  }))
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}))
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}))
  return server
}

if (process.argv[2] === 'stdio') await createPeer().connect(new StdioServerTransport())
else if (process.argv[2] === 'sse') serveSse()
else serveHttp()

function serveHttp() {
  const sessions = new Map()
  const server = createServer(async (req, res) => {
    const id = req.headers['mcp-session-id']
    const known = sessions.get(id)
    if (known) return known.handleRequest(req, res)
    if (id !== undefined) return res.writeHead(404).end()
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    })
    await createPeer().connect(transport)
    return transport.handleRequest(req, res)
  })
  server.listen(0, '127.0.0.1', () => facts.announce(server.address().port))
}

/** Only the transport of 2024-11-05: a stream at one path, messages at another. */
function serveSse() {
  const sessions = new Map()
  const server = createServer(async (req, res) => {
    const { pathname, searchParams } = new URL(req.url, 'http://127.0.0.1')
    const known = sessions.get(searchParams.get('sessionId'))
    if (req.method === 'POST' && pathname === '/messages' && known) return known.handlePostMessage(req, res)
    if (req.method !== 'GET' || pathname !== '/mcp') return res.writeHead(404).end('not found')
    const transport = new SSEServerTransport('/messages', res)
    sessions.set(transport.sessionId, transport)
    res.once('close', () => sessions.delete(transport.sessionId))
    return createPeer().connect(transport)
  })
  server.listen(0, '127.0.0.1', () => facts.announce(server.address().port))
}
