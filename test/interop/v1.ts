import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js'
import {
  ABOUT,
  Heard,
  reconnection,
  refusingAnswers,
  ROOTS,
  SERVER_COMMAND,
  Wire,
  type Json,
  type ListKind,
  type Message,
  type Page,
  type Peer,
  type Way,
} from './peer.ts'

/** Connects the official client of the first generation. It always offers its newest revision, so others are put in its mouth. */
export async function connectV1(way: Way): Promise<Peer> {
  const client = new Client(ABOUT, {
    capabilities: { roots: {}, sampling: { tools: {} }, elicitation: { form: {}, url: {} } },
  })
  const answers = refusingAnswers()
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answers.elicit(params as Json) as never)
  client.setRequestHandler(
    CreateMessageRequestSchema,
    ({ params }) => answers.sample(params as Json) as never,
  )
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [...ROOTS] }))
  const heard = new Heard()
  client.fallbackNotificationHandler = async (message) => heard.push(message as Message)
  const errors: Error[] = []
  client.onerror = (error) => errors.push(error)

  const transport = transportOf(way)
  const wire = new Wire()
  wire.tapSend(transport, (message) => offering(way, message))
  wire.tapReceive(transport)
  await client.connect(transport as Transport)

  return {
    revision: wire.answer('initialize')?.result?.['protocolVersion'] as string,
    server: {
      info: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    },
    wire,
    heard,
    answers,
    errors,
    page: (kind, cursor) => page(client, kind, cursor),
    all: (kind) => all(client, kind),
    call: (name, args = {}, { meta, ...options } = {}) =>
      client.callTool(
        { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) },
        undefined,
        options as object,
      ),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, ...(args === undefined ? {} : { arguments: args }) }),
    complete: (params) => client.complete(params as never),
    request: (method, params) =>
      client.request({ method, ...(params === undefined ? {} : { params }) }, ResultSchema),
    watch: async (uri) => {
      await client.subscribeResource({ uri })
      return async () => void (await client.unsubscribeResource({ uri }))
    },
    sessionId: () => (transport as { sessionId?: string }).sessionId,
    close: async () => {
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession()
      await client.close()
    },
  }
}

function transportOf(way: Way): StdioClientTransport | StreamableHTTPClientTransport | SSEClientTransport {
  const { url, fetch } = way
  if (url === undefined) return new StdioClientTransport(SERVER_COMMAND)
  const options = fetch === undefined ? {} : { fetch }
  if (url.endsWith('/sse')) return new SSEClientTransport(new URL(url), options)
  return new StreamableHTTPClientTransport(new URL(url), {
    reconnectionOptions: reconnection(way),
    ...options,
  })
}

function offering({ revision }: Way, message: Message): Message {
  if (message.method !== 'initialize') return message
  return { ...message, params: { ...message.params, protocolVersion: revision } }
}

async function page(client: Client, kind: ListKind, cursor?: string): Promise<Page> {
  const params = cursor === undefined ? {} : { cursor }
  const list = {
    tools: async () => client.listTools(params),
    resources: async () => client.listResources(params),
    resourceTemplates: async () => client.listResourceTemplates(params),
    prompts: async () => client.listPrompts(params),
  }[kind]
  const result: Json = await list()
  return { items: result[kind] as Json[], nextCursor: result['nextCursor'] as string | undefined }
}

async function all(client: Client, kind: ListKind): Promise<readonly Json[]> {
  const items: Json[] = []
  let cursor: string | undefined
  do {
    const next = await page(client, kind, cursor)
    items.push(...next.items)
    cursor = next.nextCursor
  } while (cursor !== undefined)
  return items
}
