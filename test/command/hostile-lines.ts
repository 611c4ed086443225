import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { EVIL } from './hostile-text.ts'

interface Request {
  readonly id?: unknown
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** A word with text that a terminal would obey. */
function evil(word: string): string {
  return `${word}${EVIL}`
}

const ICONS = [{ src: evil('https://evil.example/'), mimeType: evil('image/png'), sizes: [evil('48x48')] }]
const INFO = { name: EVIL, title: EVIL, version: EVIL, description: EVIL, websiteUrl: EVIL, icons: ICONS }
const ABOUT = { title: EVIL, description: EVIL, icons: ICONS, _meta: { [evil('x')]: EVIL } }
const NOTES = { audience: [evil('user')], lastModified: EVIL }

const SCHEMA = {
  type: 'object',
  title: EVIL,
  description: EVIL,
  properties: {
    a: { type: 'string', title: EVIL, description: EVIL, examples: [EVIL] },
    [EVIL]: { enum: [EVIL], default: EVIL },
  },
}

const BLOCKS = [
  { type: 'text', text: EVIL, annotations: NOTES },
  { type: 'image', data: 'AAAA', mimeType: evil('image/png') },
  { type: 'audio', data: 'AAAA', mimeType: evil('audio/wav') },
  { type: 'resource_link', uri: evil('evil://'), name: EVIL, mimeType: EVIL, ...ABOUT },
  { type: 'resource', resource: { uri: evil('evil://'), mimeType: EVIL, text: EVIL } },
  { type: 'resource', resource: { uri: evil('evil://'), mimeType: EVIL, blob: 'AAAA' } },
  { type: evil('other'), text: EVIL },
]

/** What an answer has in every member that may be any text. `odd` is added to words of which the protocol has only a few. */
function results({ params = {} }: Request, odd: string): Readonly<Record<string, object>> {
  const status = (word: string): object => ({
    taskId: params['taskId'] ?? EVIL,
    status: `${word}${odd}`,
    statusMessage: EVIL,
    createdAt: EVIL,
    lastUpdatedAt: EVIL,
    ttl: null,
  })
  return {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
        experimental: { [EVIL]: { [EVIL]: EVIL } },
        extensions: { [EVIL]: { [EVIL]: EVIL } },
      },
      serverInfo: INFO,
      instructions: EVIL,
    },
    ping: {},
    'logging/setLevel': {},
    'resources/subscribe': {},
    'resources/unsubscribe': {},
    'tools/list': {
      tools: [
        { name: 'evil', ...ABOUT, inputSchema: SCHEMA, annotations: { title: EVIL } },
        { name: evil('tool'), ...ABOUT, inputSchema: SCHEMA, outputSchema: SCHEMA },
      ],
    },
    'resources/list': {
      resources: [{ uri: evil('evil://'), name: EVIL, mimeType: EVIL, annotations: NOTES, ...ABOUT }],
    },
    'resources/templates/list': {
      resourceTemplates: [{ uriTemplate: evil('evil://{a}'), name: EVIL, mimeType: EVIL, ...ABOUT }],
    },
    'prompts/list': {
      prompts: ['evil', EVIL].map((name) => ({
        name,
        ...ABOUT,
        arguments: [
          { name: 'topic', required: true, ...ABOUT },
          { name: EVIL, ...ABOUT },
        ],
      })),
    },
    'tools/call': { content: BLOCKS, structuredContent: odd === '' ? undefined : { [EVIL]: EVIL } },
    'resources/read': {
      contents: [
        { uri: evil('evil://'), mimeType: EVIL, text: EVIL },
        { uri: evil('evil://'), mimeType: EVIL, blob: 'AAAA' },
      ],
    },
    'prompts/get': {
      description: EVIL,
      messages: BLOCKS.map((content) => ({ role: `user${odd}`, content })),
    },
    'tasks/list': { tasks: [status('working'), status('failed')], nextCursor: EVIL },
    'tasks/get': status('working'),
    'tasks/cancel': status('cancelled'),
    'completion/complete': { completion: { values: [EVIL, evil('x')], total: 2, hasMore: true } },
  }
}

/** What a server does with a request: sends messages, or anything else. */
type Way = (request: Request, send: (message: object) => void, socket: Socket) => void

function answered(odd: string): Way {
  return (request, send) => {
    const { id, method, params } = request
    const token = (params?.['_meta'] as { readonly progressToken?: unknown } | undefined)?.progressToken
    if (token !== undefined)
      send({
        method: 'notifications/progress',
        params: { progressToken: token, progress: 1, total: 2, message: EVIL },
      })
    if (method !== 'initialize')
      send({
        method: 'notifications/message',
        params: { level: `error${odd}`, logger: EVIL, data: { [EVIL]: EVIL } },
      })
    const result = results(request, odd)[method]
    send(result === undefined ? { id, error: { code: -32601, message: EVIL } } : { id, result })
    if (method === 'resources/subscribe')
      send({ method: 'notifications/resources/updated', params: { uri: params?.['uri'], title: EVIL } })
  }
}

/** Answers only the requests that come before the one that matters. */
function onlyBefore(then: Way): Way {
  return (request, send, socket) => {
    const isBefore = request.method === 'initialize' || request.method === 'logging/setLevel'
    ;(isBefore ? answered('') : then)(request, send, socket)
  }
}

export type WayName =
  | 'escapes'
  | 'odd'
  | 'errors'
  | 'rejects'
  | 'mute'
  | 'silent'
  | 'endless'
  | 'chatter'
  | 'huge'

/** How hostile servers behave. */
export const WAYS: Readonly<Record<WayName, Way>> = {
  /** Text that a terminal would obey, wherever any text may be. */
  escapes: answered(''),
  /** The same also in words such as a role or a status. */
  odd: answered(EVIL),
  /** Errors for everything but the beginning. */
  errors: onlyBefore(({ id }, send) =>
    send({ id, error: { code: -32000, message: EVIL, data: { [EVIL]: [EVIL], reason: EVIL } } }),
  ),
  /** An error for the first request. */
  rejects: ({ id }, send) => send({ id, error: { code: -32000, message: EVIL, data: EVIL } }),
  mute: () => undefined,
  silent: onlyBefore(() => undefined),
  /** A message without end. */
  endless: onlyBefore((_, __, socket) => {
    const flood = (): void => {
      if (socket.destroyed) return
      if (socket.write('x'.repeat(262_144))) setImmediate(flood)
      else socket.once('drain', flood)
    }
    flood()
  }),
  /** Messages without end, none of which answers. */
  chatter: onlyBefore((_, send, socket) => {
    const data = EVIL.repeat(1000)
    const flood = (): void => {
      if (socket.destroyed) return
      send({ method: 'notifications/message', params: { level: 'error', data } })
      if (socket.writableNeedDrain) socket.once('drain', flood)
      else setImmediate(flood)
    }
    flood()
  }),
  /** One very large message. */
  huge: onlyBefore(({ id }, send) =>
    send({ id, result: { content: [{ type: 'text', text: `${EVIL}${'y'.repeat(30_000_000)}` }] } }),
  ),
}

/** The request in a line; the validator sends others, too. */
function requestOf(text: string): Request | undefined {
  try {
    return (JSON.parse(text) as Request | null) ?? undefined
  } catch {
    return undefined
  }
}

/** A hostile server on a TCP port. */
export class HostileServer implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(name: WayName): Promise<HostileServer> {
    const way = WAYS[name]
    const server = createServer()
    const hostile = new HostileServer(server)
    server.on('connection', (socket) => hostile.#serve(socket, way))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return hostile
  }

  get url(): string {
    return `tcp://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #serve(socket: Socket, way: Way): void {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    const send = (message: object): void =>
      void socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const lines = createInterface({ input: socket })
    // Errors of the socket are also those of its lines.
    lines.on('error', () => undefined)
    lines.on('line', (text) => {
      const request = requestOf(text)
      if (request?.id === undefined) return
      if (request.method === 'server/discover' && way !== WAYS.mute)
        return send({ id: request.id, error: { code: -32601, message: 'no' } })
      way(request, send, socket)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((done) => this.#server.close(done))
  }
}
