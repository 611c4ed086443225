// The usual client program with the official SDK 2.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { ANSWERS, CAPABILITIES, useAll } from './use.mjs'

const client = new Client(
  { name: 'v2-client', version: '1.0.0' },
  { versionNegotiation: { mode: 'auto' }, capabilities: CAPABILITIES },
)
client.setRequestHandler('roots/list', ANSWERS.roots)
client.setRequestHandler('elicitation/create', ANSWERS.elicitation)
client.setRequestHandler('sampling/createMessage', ANSWERS.sampling)
await useAll(client, {
  Http: StreamableHTTPClientTransport,
  Stdio: StdioClientTransport,
  codeOf: (answer) => answer,
})
