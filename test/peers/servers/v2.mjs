import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import {
  completable,
  createMcpHandler,
  inputRequired,
  inputResponse,
  InMemoryServerEventBus,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import * as facts from './facts.mjs'

const { said } = facts
const bus = new InMemoryServerEventBus()

/** Asks in one round and answers in the next; the library asks directly where the revision has no rounds. */
const asking =
  (request, tell) =>
  (...given) => {
    const { inputResponses } = given.at(-1).mcpReq
    const answer = inputResponses?.q
    if (answer === undefined) return inputRequired({ inputRequests: { q: request() } })
    return said(tell(answer, inputResponse(inputResponses, 'q')))
  }

function createPeer({ era }) {
  const server = new McpServer(facts.ABOUT, {
    instructions: facts.INSTRUCTIONS,
    capabilities: {
      logging: {},
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
    },
  })
  server.registerTool('echo', { inputSchema: facts.TEXT, annotations: { readOnlyHint: true } }, ({ text }) =>
    said(text),
  )
  server.registerTool('add', { inputSchema: facts.SUMMANDS, outputSchema: facts.SUM }, facts.summed)
  server.registerTool('fail', {}, facts.failed)
  server.registerTool('crash', {}, () => {
    throw new Error('it crashed')
  })
  server.registerTool('gallery', {}, facts.gallery)
  server.registerTool('count', { inputSchema: facts.STEPS }, async ({ to }, { mcpReq }) => {
    const { progressToken } = mcpReq._meta
    for (let progress = 1; progress <= to; progress++)
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: to, message: `step ${progress}` },
      })
    return said('counted')
  })
  server.registerTool('wait', { inputSchema: facts.NAME }, async ({ name }, { mcpReq }) => {
    const { progressToken } = mcpReq._meta
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
    await facts.waitForEnd(name, mcpReq.signal)
    return said('too late')
  })
  server.registerTool('ended', { inputSchema: facts.NAME }, async ({ name }) =>
    said(await facts.whenEnded(name)),
  )
  server.registerTool('speak', {}, async ({ mcpReq }) => {
    await mcpReq.log('info', 'quiet')
    await mcpReq.log('error', 'loud', 'mouth')
    return said('spoken')
  })
  server.registerTool(
    'ask',
    {},
    asking(
      () => inputRequired.elicit({ message: 'Who?', requestedSchema: facts.FORM }),
      (answer) => JSON.stringify(answer),
    ),
  )
  const url = 'https://example.com/pay'
  server.registerTool(
    'visit',
    {},
    era === 'modern'
      ? asking(
          () => inputRequired.elicitUrl({ message: 'Pay', url }),
          ({ action }) => action,
        )
      : async ({ mcpReq }) => {
          const elicitationId = randomUUID()
          const { action } = await mcpReq.elicitInput({ mode: 'url', message: 'Pay', url, elicitationId })
          await server.server.createElicitationCompletionNotifier(elicitationId)()
          return said(action)
        },
  )
  server.registerTool(
    'joke',
    {},
    asking(
      () => inputRequired.createMessage(facts.QUESTION),
      (answer) => JSON.stringify(answer),
    ),
  )
  server.registerTool(
    'folders',
    {},
    asking(
      () => inputRequired.listRoots(),
      ({ roots }) => JSON.stringify(roots),
    ),
  )
  server.registerTool('grow', {}, () => {
    for (const kind of ['tools_list_changed', 'prompts_list_changed', 'resources_list_changed'])
      bus.publish({ kind })
    server.sendToolListChanged()
    server.sendPromptListChanged()
    server.sendResourceListChanged()
    return said('grown')
  })
  server.registerTool('touch', {}, async () => {
    bus.publish({ kind: 'resource_updated', uri: 'note://hello' })
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
  const argsSchema = z.object({ name: completable(z.string(), facts.starting) })
  server.registerPrompt('greet', { argsSchema }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
  }))
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
  return server
}

if (process.argv[2] === 'stdio') serveStdio(createPeer)
else serveHttp()

function serveHttp() {
  const stateless = toNodeHandler(createMcpHandler(createPeer, { bus, legacy: 'reject' }))
  const sessions = new Map()
  const server = createServer(async (req, res) => {
    if (req.headers['mcp-protocol-version'] === '2026-07-28') return stateless(req, res)
    const id = req.headers['mcp-session-id']
    const known = sessions.get(id)
    if (known) return known.handleRequest(req, res)
    if (id !== undefined) return res.writeHead(404).end()
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    })
    await createPeer({ era: 'legacy' }).connect(transport)
    return transport.handleRequest(req, res)
  })
  server.listen(0, '127.0.0.1', () => facts.announce(server.address().port))
}
