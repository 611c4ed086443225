import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import * as z from 'zod'
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

const METHODS = {
  tools: 'tools/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
  prompts: 'prompts/list',
} as const

/** A child that is asked which revisions it has by the connection itself, not by another child before it. */
export class ProbedInPlace extends StdioClientTransport {}

/** Connects the official client of the second generation, which speaks every revision. */
export async function connectV2(way: Way): Promise<Peer> {
  const rounds = way.revision === '2026-07-28'
  const client = new Client(ABOUT, {
    capabilities: { roots: {}, sampling: { tools: {} }, elicitation: { form: {}, url: {} } },
    ...(rounds
      ? { versionNegotiation: { mode: { pin: way.revision } } }
      : { supportedProtocolVersions: [way.revision] }),
  })
  const answers = refusingAnswers()
  client.setRequestHandler('elicitation/create', ({ params }) => answers.elicit(params as Json) as never)
  client.setRequestHandler('sampling/createMessage', ({ params }) => answers.sample(params as Json) as never)
  client.setRequestHandler('roots/list', () => ({ roots: [...ROOTS] }))
  const heard = new Heard()
  client.fallbackNotificationHandler = async (message) => heard.push(message as Message)
  const errors: Error[] = []
  client.onerror = (error) => errors.push(error)

  const transport = transportOf(way)
  const wire = new Wire()
  wire.tapSend(transport)
  wire.tapReceive(transport)
  await client.connect(transport as Transport)

  return {
    revision: client.getNegotiatedProtocolVersion(),
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
    call: async (name, args = {}, { meta, ...options } = {}) =>
      (await client.callTool(
        { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) } as never,
        options as object,
      )) as Json,
    read: async (uri) => (await client.readResource({ uri })) as Json,
    prompt: async (name, args) =>
      (await client.getPrompt({ name, ...(args === undefined ? {} : { arguments: args }) })) as Json,
    complete: async (params) => (await client.complete(params as never)) as Json,
    request: (method, params) =>
      client.request({ method, ...(params === undefined ? {} : { params }) }, z.looseObject({})),
    watch: rounds
      ? async (uri) => {
          const stream = await client.listen({
            resourceSubscriptions: [uri],
            toolsListChanged: true,
            resourcesListChanged: true,
            promptsListChanged: true,
          })
          return () => stream.close()
        }
      : async (uri) => {
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

function transportOf(way: Way): StdioClientTransport | StreamableHTTPClientTransport {
  const { url, fetch } = way
  if (url === undefined) return new ProbedInPlace(SERVER_COMMAND)
  const options = fetch === undefined ? {} : { fetch }
  return new StreamableHTTPClientTransport(new URL(url), {
    reconnectionOptions: reconnection(way),
    ...options,
  })
}

async function page(client: Client, kind: ListKind, cursor?: string): Promise<Page> {
  const params = cursor === undefined ? {} : { cursor }
  const result = (await client.request({ method: METHODS[kind], params })) as unknown as Json
  return { items: result[kind] as Json[], nextCursor: result['nextCursor'] as string | undefined }
}

async function all(client: Client, kind: ListKind): Promise<readonly Json[]> {
  const list = {
    tools: async () => client.listTools(),
    resources: async () => client.listResources(),
    resourceTemplates: async () => client.listResourceTemplates(),
    prompts: async () => client.listPrompts(),
  }[kind]
  return ((await list()) as unknown as Json)[kind] as Json[]
}
