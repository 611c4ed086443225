import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { isLogLevel } from '../protocol/log-levels.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { ClientInfo, RequestSource } from '../rpc/call.ts'
import { toNotice, watchedAs, type SentChange } from '../rpc/changes.ts'
import type { Session } from '../rpc/session.ts'
import {
  CAPABILITIES,
  CLIENT,
  LEVEL,
  READY,
  REVISION,
  URI,
  VALUE,
  type Notice,
  type SessionContents,
} from '../rpc/session-fields.ts'
import type { FieldChanges } from '../rpc/session-store.ts'
import { follow, hearsChanges, NO_PARAMS, NOTICES } from './following.ts'
import { holderOf } from './held-bytes.ts'
import { toIntroduction } from './introduction.ts'
import type { ServerParts } from './parts.ts'
import { isForSome } from './resources.ts'
import type { ServerService } from './service.ts'
import { changeValue, replaceValues } from './session-state.ts'
import { UPDATED, watchedBy } from './subscriptions.ts'

const LISTS = ['tools', 'prompts', 'resources'] as const

/** Knows what the fields of a server's sessions mean. */
export function createContents(service: ServerService, parts: ServerParts): SessionContents {
  const { changes, held } = parts

  /** Takes over the client that another node has greeted. */
  const greet = (session: Session, fields: FieldChanges, holder: unknown): void => {
    const introduced = toIntroduction({
      clientInfo: readObject(fields.get(CLIENT)) as unknown as ClientInfo,
      capabilities: readObject(fields.get(CAPABILITIES)),
    })
    held.take(holder, introduced.bytes)
    session.onClose(() => held.free(holder, introduced.bytes))
    session.dialect = service.dialects[fields.get(REVISION) as Revision] ?? session.dialect
    session.client = introduced.clientInfo
    session.capabilities = introduced.capabilities
    session.opened = true
    const offered = LISTS.map((kind) => [kind, { listChanged: service.offers(kind) }])
    follow(changes, session, Object.fromEntries(offered) as JsonObject)
  }

  const noticeOf = (session: Session, change: SentChange): Notice | undefined => {
    if (!hearsChanges(session)) return undefined
    if (change.kind === 'extension') {
      const isMeant = service.extensions.get(change.id)?.isFor(session) === true
      return isMeant ? { method: change.method, params: change.params } : undefined
    }
    if (change.kind !== 'resource')
      return service.offers(change.kind)
        ? { method: NOTICES[change.kind].method, params: NO_PARAMS }
        : undefined
    if (session.subscriptions === undefined) return undefined
    const uri = watchedAs(change.uri, session.subscriptions, () => isForSome(service, change.uri))
    return uri === undefined ? undefined : { method: UPDATED, params: { uri } }
  }

  return {
    fieldsOf: ({ dialect, client, capabilities }) =>
      new Map([
        [REVISION, dialect.revision],
        [CLIENT, JSON.stringify(client ?? {})],
        [CAPABILITIES, JSON.stringify(capabilities)],
      ]),
    restore(session, fields, source: RequestSource) {
      const holder = holderAs(session, source)
      if (!session.opened && fields.has(REVISION)) greet(session, fields, holder)
      const uris = namesAfter(URI, fields)
      if (uris.size > 0 || session.subscriptions !== undefined) {
        const watched = watchedOf(session, parts, holder)
        for (const uri of watched) if (!uris.has(uri)) watched.delete(uri)
        for (const uri of uris.keys()) watched.add(uri)
      }
      replaceValues(session, namesAfter(VALUE, fields), holder, parts)
      begin(session, fields)
    },
    change(session, changes, from) {
      const holder = typeof from === 'string' ? from || session : holderAs(session, from)
      if (!session.opened && typeof changes.get(REVISION) === 'string') greet(session, changes, holder)
      changeFields(session, changes, holder, parts)
      begin(session, changes)
    },
    noticeOf,
    allNotices(session, which) {
      const lists: readonly SentChange[] = LISTS.map((kind) => ({ kind }))
      const all = which === 'lists' ? lists : [...(session.subscriptions ?? [])].map(changed)
      return all.flatMap((change) => noticeOf(session, change) ?? [])
    },
    deliver(change, position) {
      if (change.kind === 'extension') {
        const entry = service.extensions.get(change.id)
        if (entry !== undefined) changes.deliver(toNotice({ ...change, position }, entry.isFor))
      } else if (change.kind === 'resource') {
        let isKnown: boolean | undefined
        const isRestricted = (): boolean => (isKnown ??= isForSome(service, change.uri))
        changes.deliver({ kind: 'resource', uri: change.uri, isForSome: isRestricted, position })
      } else changes.deliver({ kind: change.kind, position })
    },
  }
}

/** Holds nothing: sessions of all nodes hold what they keep themselves. */
const NO_CHANNEL = { emit: () => undefined }

function holderAs(session: Session, source: RequestSource): unknown {
  return holderOf({ source, peer: session, channel: NO_CHANNEL })
}

function watchedOf(session: Session, parts: ServerParts, holder: unknown): Set<string> {
  return (session.subscriptions ??= watchedBy(session, parts, holder))
}

/** Changes the resources and values of a session. */
function changeFields(session: Session, changes: FieldChanges, holder: unknown, parts: ServerParts): void {
  for (const [name, text] of changes) {
    if (name.startsWith(VALUE)) changeValue(session, name.slice(VALUE.length), text, holder, parts)
    if (!name.startsWith(URI)) continue
    if (text === null) session.subscriptions?.delete(name.slice(URI.length))
    else watchedOf(session, parts, holder).add(name.slice(URI.length))
  }
}

/** What is left of a session that has changed, once its resources and values have. */
function begin(session: Session, fields: FieldChanges): void {
  const level = fields.get(LEVEL)
  if (isLogLevel(level)) session.logLevel = level
  if (typeof fields.get(READY) === 'string' && !session.ready) session.setReady()
}

function changed(uri: string): SentChange {
  return { kind: 'resource', uri }
}

/** The fields whose names begin with a prefix, by the rest of their names. */
function namesAfter(prefix: string, fields: ReadonlyMap<string, string>): Map<string, string> {
  const found = [...fields].filter(([name]) => name.startsWith(prefix))
  return new Map(found.map(([name, value]) => [name.slice(prefix.length), value]))
}

function readObject(text: string | null | undefined): JsonObject {
  const value: unknown = JSON.parse(text ?? '{}')
  return isObject(value) ? value : {}
}
