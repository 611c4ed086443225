import { badOption } from '../base/options.ts'
import { plainText } from '../base/plain-json.ts'
import { textBytes } from '../base/weight.ts'
import { mcpError } from '../errors/error.ts'
import { SESSION_TOO_LARGE } from '../errors/server.ts'
import type { Call } from '../rpc/call.ts'
import type { Session } from '../rpc/session.ts'
import { VALUE } from '../rpc/session-fields.ts'
import { holderOf } from './held-bytes.ts'
import type { ServerParts } from './parts.ts'

/** The session of a client, and the values that handlers keep in it. Its members may be destructured. */
export interface RequestSession {
  /**
   * Identifies the session: over HTTP it is the `Mcp-Session-Id`. Keep it out of logs and results, because without
   * authentication whoever knows it can use the session.
   */
  readonly id: string
  /** A copy of the value under a key; undefined if there is none. */
  readonly get: <Value = unknown>(key: string) => Promise<Value | undefined>
  /**
   * Keeps a copy of a JSON value until the session ends, or does nothing if it has ended. Rejects values that JSON cannot
   * express, and with `session_too_large` more than `limits.sessionBytes`.
   */
  readonly set: (key: string, value: unknown) => Promise<void>
  /** Removes a value. Returns whether it existed. */
  readonly delete: (key: string) => Promise<boolean>
}

/** The bytes of an entry besides its key and its JSON text. */
const OVERHEAD = 128
const SET = 'ctx.session.set'

const known = new WeakMap<Session, SessionState>()

/** The values of a session, and how another node's replace them. */
interface SessionState {
  readonly session: RequestSession
  replace(values: ReadonlyMap<string, string>): void
  change(key: string, text: string | null): void
}

/** The session of a request; undefined if it ends with the request. */
export function sessionOf(call: Call, parts: ServerParts): RequestSession | undefined {
  const { session } = call.peer
  // Where the protocol needs a session and the client has none, the request gets one that cannot reach the client later.
  if (session?.reachable !== true) return undefined
  return stateOf(session, holderOf(call), parts).session
}

/** Gives a session the values that other nodes know, as JSON text by key; throws if there is no room for them. */
export function replaceValues(
  session: Session,
  values: ReadonlyMap<string, string>,
  holder: unknown,
  parts: StateParts,
): void {
  if (values.size > 0 || known.has(session)) stateOf(session, holder, parts).replace(values)
}

/** Gives a session one value that other nodes know, or removes it; throws if there is no room for it. */
export function changeValue(
  session: Session,
  key: string,
  text: string | null,
  holder: unknown,
  parts: StateParts,
): void {
  if (text !== null || known.has(session)) stateOf(session, holder, parts).change(key, text)
}

type StateParts = Pick<ServerParts, 'held' | 'limits'>

function stateOf(session: Session, holder: unknown, parts: StateParts): SessionState {
  let found = known.get(session)
  if (found === undefined) known.set(session, (found = createState(session, holder, parts)))
  return found
}

function createState(session: Session, holder: unknown, { held, limits }: StateParts): SessionState {
  const limit = limits.sessionBytes
  /** The values as JSON text, so that handlers only ever get copies. */
  const texts = new Map<string, string>()
  let bytes = 0
  /** Makes room for a text under a key; throws if there is none. */
  const resize = (key: string, text: string | undefined, most: number): void => {
    const change = sizeOf(key, text) - sizeOf(key, texts.get(key))
    if (change > 0) {
      if (bytes + change > most) throw mcpError(SESSION_TOO_LARGE, { limit })
      held.take(holder, change)
    } else held.free(holder, -change)
    bytes += change
  }
  session.onClose(() => {
    texts.clear()
    held.free(holder, bytes)
    bytes = 0
  })
  const put = (key: string, text: string | undefined, most = limit): void => {
    resize(key, text, most)
    if (text === undefined) texts.delete(key)
    else texts.set(key, text)
  }
  const save = (key: string, text: string | undefined): Promise<void> | undefined => {
    session.keeper?.change(VALUE + key, text ?? null)
    return session.keeper?.saved()
  }
  const state: RequestSession = {
    get id() {
      return session.id
    },
    async get<Value>(key: string): Promise<Value | undefined> {
      const text = texts.get(key)
      return text === undefined ? undefined : (JSON.parse(text) as Value)
    },
    async set(key, value) {
      if (typeof key !== 'string') throw badOption(SET, 'the key must be a string')
      const text = plainText(SET, key, value)
      if (session.closed) return
      put(key, text)
      await save(key, text)
    },
    async delete(key) {
      if (!texts.has(key)) return false
      put(key, undefined)
      await save(key, undefined)
      return true
    },
  }
  const change = (key: string, text: string | null): void => {
    // Two nodes may have added values at the same time, and the session must stay usable.
    if (texts.get(key) !== (text ?? undefined)) put(key, text ?? undefined, Number.POSITIVE_INFINITY)
  }
  const replace = (values: ReadonlyMap<string, string>): void => {
    for (const key of texts.keys()) if (!values.has(key)) put(key, undefined)
    for (const [key, text] of values) change(key, text)
  }
  return { session: state, replace, change }
}

function sizeOf(key: string, text: string | undefined): number {
  return text === undefined ? 0 : textBytes(key) + textBytes(text) + OVERHEAD
}
