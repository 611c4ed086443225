import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { about } from './options.mjs'

/** The client of the official SDK, version 2. */
export async function connect({ url, command, args }, revision) {
  const client = new Client(
    about,
    revision === '2026-07-28'
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] },
  )
  await client.connect(
    url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args }),
  )
  return {
    call: async (a, b) => (await client.callTool({ name: 'add', arguments: { a, b } })).content[0].text,
    close: () => client.close(),
  }
}
