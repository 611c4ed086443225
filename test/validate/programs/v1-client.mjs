// The usual client program with the official SDK 1.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { ANSWERS, CAPABILITIES, useAll } from './use.mjs'

const client = new Client({ name: 'v1-client', version: '1.0.0' }, { capabilities: CAPABILITIES })
client.setRequestHandler(ListRootsRequestSchema, ANSWERS.roots)
client.setRequestHandler(ElicitRequestSchema, ANSWERS.elicitation)
client.setRequestHandler(CreateMessageRequestSchema, ANSWERS.sampling)
await useAll(client, {
  Http: StreamableHTTPClientTransport,
  Stdio: StdioClientTransport,
  codeOf: (answer) => answer.get('code'),
})
