import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { announce, serverOptions } from './listening.mjs'
import { createOfficialV1 } from './official-v1-server.mjs'
import { options } from './options.mjs'

const sessions = new Map()

const server = createServer(serverOptions, async (req, res) => {
  const known = sessions.get(req.headers['mcp-session-id'])
  if (known) return known.handleRequest(req, res)
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    // A body is cheaper than a stream, but has no room for progress.
    enableJsonResponse: !options.progress,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  })
  await createOfficialV1().connect(transport)
  return transport.handleRequest(req, res)
})
server.listen(0, '127.0.0.1', () => announce(server.address().port))
