import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { about } from './options.mjs'

/** The client of the official SDK, version 1, whose newest revision is 2025-11-25. */
export async function connect({ url, command, args }) {
  const client = new Client(about)
  await client.connect(
    url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args }),
  )
  return {
    call: async (a, b) => (await client.callTool({ name: 'add', arguments: { a, b } })).content[0].text,
    close: () => client.close(),
  }
}
