import type { Revision } from '../../protocol/revisions.ts'
import { isObject, member, type Message } from '../message.ts'
import { CLIENT_CAPABILITIES, OUR_INFO } from '../session.ts'
import type { Seen, Visit } from './visit.ts'

/** The way from our server to the client: a connection, or the reply to one HTTP request. */
export interface Channel {
  readonly stream: string
  /** Sends a text before the response. Over HTTP the reply becomes a stream of events. */
  send(text: string): Promise<void>
  /** Sends the response: over HTTP as JSON, unless something was sent before. */
  finish(text: string, status?: number): Promise<void>
  /** Makes the reply a stream of events, over HTTP. */
  openStream(): void
  /** Writes a comment into the stream of events, over HTTP. */
  comment(text: string): void
}

/** What only HTTP can do does nothing on other channels. */
export const NOT_HTTP: Pick<Channel, 'openStream' | 'comment'> = {
  openStream: () => undefined,
  comment: () => undefined,
}

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
const CACHED: ReadonlySet<unknown> = new Set([
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
  'resources/read',
])

/** A message of the client, and the means to react to it. */
export class Turn {
  readonly message: Message
  readonly seen: Seen
  readonly visit: Visit
  readonly channel: Channel

  constructor(message: Message, seen: Seen, visit: Visit, channel: Channel) {
    this.message = message
    this.seen = seen
    this.visit = visit
    this.channel = channel
  }

  get method(): string {
    return String(this.message['method'])
  }

  get params(): Message {
    const { params } = this.message
    return isObject(params) ? params : {}
  }

  get revision(): Revision {
    return this.visit.revision
  }

  get isRequest(): boolean {
    return Object.hasOwn(this.message, 'id')
  }

  /** The capabilities that the client declared: in this request at 2026-07-28, otherwise in `initialize`. */
  get capabilities(): Message {
    const declared = this.visit.isModern
      ? member(this.params, '_meta', CLIENT_CAPABILITIES)
      : member(this.visit.greeting?.message, 'params', 'capabilities')
    return isObject(declared) ? declared : {}
  }

  /** Sends a text as it is, before the response. */
  async text(text: string): Promise<void> {
    await this.channel.send(text)
  }

  async notify(method: string, params?: Message): Promise<void> {
    await this.text(JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) }))
  }

  /** Sends a request to the client, and waits for its response. */
  async ask(method: string, params?: Message, id: string | number = newId()): Promise<Message | undefined> {
    const answer = this.visit.ask(id, method, params)
    await this.text(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) }))
    return answer
  }

  /** A result as the revision wants it. */
  resultOf(result: Message): Message {
    if (!this.visit.isModern) return result
    const isComplete = result['resultType'] === undefined
    return {
      ...(isComplete && { resultType: 'complete' }),
      ...(isComplete && CACHED.has(this.method) && { ttlMs: 0, cacheScope: 'private' }),
      ...result,
      _meta: { [SERVER_INFO]: OUR_INFO, ...(result['_meta'] as Message | undefined) },
    }
  }

  async reply(result: Message): Promise<void> {
    await this.respond({ result: this.resultOf(result) })
  }

  /** Asks questions in the place of a result, at 2026-07-28. */
  async require(questions: Readonly<{ [key: string]: Message }>, state?: string): Promise<void> {
    this.visit.rounds.push({ request: this.message, questions, state, at: this.visit.trace.mark })
    await this.reply({
      resultType: 'input_required',
      inputRequests: questions,
      ...(state !== undefined && { requestState: state }),
    })
  }

  /** Answers with an error, and with a status over HTTP. */
  async fail(code: number, message: string, data?: unknown, status?: number): Promise<void> {
    await this.respond({ error: { code, message, ...(data !== undefined && { data }) } }, status)
  }

  /** Answers with any members. */
  async respond(members: Message, status?: number): Promise<void> {
    const { id } = this.message
    this.visit.replied(id)
    await this.channel.finish(JSON.stringify({ jsonrpc: '2.0', id, ...members }), status)
  }
}

let count = 0

/** An id for a request of our server: texts and numbers in turn. */
function newId(): string | number {
  count++
  return count % 2 === 0 ? count : `ask-${count}`
}
