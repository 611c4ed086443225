import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createOfficialV1 } from './official-v1-server.mjs'

await createOfficialV1().connect(new StdioServerTransport())
