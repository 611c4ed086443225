import type { Revision } from '../protocol/revisions.ts'
import { parseUrl } from '../protocol/url.ts'
import { usualAnswer } from './answer.ts'
import type { Door } from './door.ts'
import { isObject, member, type Message } from './message.ts'
import { Session } from './session.ts'
import type { Transport } from './rule.ts'
import { survey, type Survey } from './survey.ts'
import type { Trace } from './trace.ts'
import { HttpWire } from './wire-http.ts'
import { within } from './within.ts'
import type { Wire } from './wire.ts'

export interface SubjectOptions {
  readonly door: Door
  readonly revision: Revision
  readonly trace: Trace
  /** Whether tools may be called. */
  readonly mayCall: boolean
  /** Whether tools that say that they are destructive may be called too. Default: `false`. */
  readonly mayDestroy?: boolean | undefined
  /** How long to wait for an answer. */
  readonly ms: number
  /** Latency targets of the user, such as `{ p99: 50 }`, in milliseconds. */
  readonly latency?: Readonly<{ [percentile: string]: number }> | undefined
}

/** The capabilities that the validator declares unless a check says otherwise: those that the revision has. */
function ownCapabilities(revision: Revision): Message {
  const elicitation = revision >= '2025-06-18' ? { elicitation: {} } : {}
  return { roots: { listChanged: true }, sampling: {}, ...elicitation }
}

/** The most time for closing what a check opened. */
const CLOSE_MS = 1_000

/** The most pages of a list that are read. */
const MOST_PAGES = 10

/** Whether hints say that a tool is destructive. The hint means something only for tools that change things. */
function isDestructive(annotations: unknown): boolean {
  return member(annotations, 'destructiveHint') === true && member(annotations, 'readOnlyHint') !== true
}

const LISTS = {
  tools: ['tools/list', 'tools', 'tools'],
  resources: ['resources/list', 'resources', 'resources'],
  templates: ['resources/templates/list', 'resourceTemplates', 'resources'],
  prompts: ['prompts/list', 'prompts', 'prompts'],
} as const

export type Kind = keyof typeof LISTS

/** A server at one revision on one transport, as the checks see it. */
export class ServerSubject {
  readonly revision: Revision
  readonly transport: Transport
  readonly trace: Trace
  readonly mayCall: boolean
  readonly ms: number
  readonly door: Door
  readonly latency: Readonly<{ [percentile: string]: number }>
  /** Every connection and conversation of the run, for checks of everything that was received. */
  readonly wires: Wire[] = []
  readonly sessions: Session[] = []
  readonly #lastingOnes = new Map<string, Promise<Session>>()
  readonly #lists = new Map<Kind, Promise<readonly Message[]>>()
  readonly #notes = new Map<string, Promise<unknown>>()
  readonly #mayDestroy: boolean
  #open: (Wire | Session)[] = []

  constructor({ door, revision, trace, mayCall, mayDestroy = false, ms, latency = {} }: SubjectOptions) {
    this.door = door
    this.revision = revision
    this.transport = door.transport
    this.trace = trace
    this.mayCall = mayCall
    this.#mayDestroy = mayDestroy
    this.ms = ms
    this.latency = latency
  }

  get isModern(): boolean {
    return this.revision === '2026-07-28'
  }

  /** Opens a connection on which nothing was said. It is closed after the check. */
  async connect(): Promise<Wire> {
    const wire = await this.door.open(this.trace, this.ms)
    this.wires.push(wire)
    this.#open.push(wire)
    return wire
  }

  /** Opens a connection over HTTP, for checks of HTTP itself. */
  async connectHttp(): Promise<HttpWire> {
    const wire = await this.connect()
    if (!(wire instanceof HttpWire))
      throw new Error(`this check needs HTTP, and the transport is ${this.transport}`)
    return wire
  }

  /** Opens a conversation in which nobody was greeted. It is closed after the check. */
  async silent(capabilities: Message = ownCapabilities(this.revision)): Promise<Session> {
    const session = this.#sessionOn(await this.connect(), capabilities)
    this.#open.push(session)
    return session
  }

  /** The same without anything of the user, over HTTP: neither headers nor the query of the address, which may have a key. */
  async stranger(): Promise<Session> {
    const { url } = this.door
    if (this.transport !== 'http' || url === undefined) return this.silent()
    const bare = parseUrl(url.origin + url.pathname)
    const wire = new HttpWire({ url: bare, headers: {}, trace: this.trace, ms: this.ms })
    this.wires.push(wire)
    this.#open.push(wire)
    const session = this.#sessionOn(wire, ownCapabilities(this.revision))
    this.#open.push(session)
    return session
  }

  /** Opens a conversation. It is closed after the check. Throws if the server does not answer the greeting. */
  async session(capabilities: Message = ownCapabilities(this.revision)): Promise<Session> {
    const session = await this.silent(capabilities)
    await greet(session)
    return session
  }

  /** The conversation for checks that need none of their own. */
  shared(): Promise<Session> {
    return this.#lasting('checks')
  }

  /** The conversation for calls of tools: a server may be busy with them for long. */
  forCalls(): Promise<Session> {
    return this.#lasting('calls')
  }

  async #lasting(name: 'checks' | 'calls'): Promise<Session> {
    const before = await this.#lastingOnes.get(name)?.catch(() => undefined)
    if (before !== undefined && before.wire.ended === undefined) return before
    before?.forget()
    const opening = this.door.open(this.trace, this.ms).then(async (wire) => {
      this.wires.push(wire)
      const session = this.#sessionOn(wire, ownCapabilities(this.revision))
      await greet(session)
      return session
    })
    this.#lastingOnes.set(name, opening)
    return opening
  }

  #sessionOn(wire: Wire, capabilities: Message): Session {
    const session = new Session(wire, {
      revision: this.revision,
      capabilities,
      ms: this.ms,
      answer: usualAnswer,
    })
    this.sessions.push(session)
    return session
  }

  /** The capabilities that the server declares. */
  async capabilities(): Promise<Message> {
    const { greeting } = await this.shared()
    const capabilities = member(greeting, 'capabilities')
    return isObject(capabilities) ? capabilities : {}
  }

  /** Everything of a kind that the server lists; empty if it does not declare the capability. */
  list(kind: Kind): Promise<readonly Message[]> {
    const found = this.#lists.get(kind) ?? this.#readList(kind)
    this.#lists.set(kind, found)
    return found
  }

  /** The tools that may be called: without consent, those that say that they are destructive are not. */
  async callable(): Promise<readonly Message[]> {
    const tools = await this.list('tools')
    return this.#mayDestroy ? tools : tools.filter(({ annotations }) => !isDestructive(annotations))
  }

  async #readList(kind: Kind): Promise<readonly Message[]> {
    const [, , capability] = LISTS[kind]
    if (!Object.hasOwn(await this.capabilities(), capability)) return []
    return (await readList(await this.shared(), kind)).items
  }

  /** Uses everything that the server offers once, so that rules about its messages have messages to look at. Never throws. */
  survey(): Promise<Survey> {
    return this.once('survey', () => survey(this))
  }

  /** Does something once for all checks, such as calling every tool. */
  once<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const found = (this.#notes.get(name) as Promise<Value> | undefined) ?? work()
    this.#notes.set(name, found)
    return found
  }

  /** Closes what a check opened. */
  async closeOpened(): Promise<void> {
    const opened = this.#open
    this.#open = []
    // A peer that does not let go must not hold up the run.
    const closed = Promise.allSettled(opened.toReversed().map((one) => one.close()))
    await within(closed, CLOSE_MS)
    for (const one of opened) if (one instanceof Session) one.forget()
  }

  async close(): Promise<void> {
    await this.closeOpened()
    const closing = [...this.#lastingOnes.values()].map(async (opening) => {
      const session = await within(
        opening.catch(() => undefined),
        CLOSE_MS,
      )
      await within(
        session?.close().catch(() => undefined),
        CLOSE_MS,
      )
    })
    await Promise.all(closing)
  }
}

/** Reads all pages of a list, up to a limit, and says whether each of them was one. */
export async function readList(
  session: Session,
  kind: Kind,
): Promise<{ readonly items: readonly Message[]; readonly isWhole: boolean }> {
  const [method, key] = LISTS[kind]
  const items: Message[] = []
  let isWhole = true
  let cursor: unknown
  for (let page = 0; page < MOST_PAGES; page++) {
    const { result } = await session.request(method, cursor === undefined ? undefined : { cursor })
    const found = member(result, key)
    if (Array.isArray(found)) items.push(...found.filter(isObject))
    else isWhole = false
    cursor = member(result, 'nextCursor')
    if (cursor === undefined) break
  }
  return { items, isWhole }
}

async function greet(session: Session): Promise<void> {
  const { result, error, problem } = await session.greet()
  if (result === undefined)
    throw new Error(
      problem ?? `the greeting is answered with an error: ${String(member(error, 'message')).slice(0, 200)}`,
    )
}
