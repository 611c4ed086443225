import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { announce, serverOptions } from './listening.mjs'
import { createOfficialV2 } from './official-v2-server.mjs'
import { options } from './options.mjs'

const stateless = toNodeHandler(createMcpHandler(createOfficialV2))
const sessions = new Map()

const server = createServer(serverOptions, async (req, res) => {
  if (req.headers['mcp-protocol-version'] === '2026-07-28') return stateless(req, res)
  const known = sessions.get(req.headers['mcp-session-id'])
  if (known) return known.handleRequest(req, res)
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    // A body is cheaper than a stream, but has no room for progress.
    enableJsonResponse: !options.progress,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  })
  await createOfficialV2().connect(transport)
  return transport.handleRequest(req, res)
})
server.listen(0, '127.0.0.1', () => announce(server.address().port))
