import { copyOf } from '../base/copy-of.ts'
import { asSent } from '../base/as-sent.ts'
import { smallMembers } from '../base/small-members.ts'
import { soon } from '../base/soon.ts'
import { mcpError } from '../errors/error.ts'
import { KEY_TAKEN, KEY_TAKEN_HINT } from '../errors/key-taken.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import type { Auth, Call, ClientInfo, RequestSource } from '../rpc/call.ts'
import type { TaskHead, TaskRequest } from '../tasks/record.ts'
import type { Soon } from '../tasks/store.ts'
import type { Tasks } from '../tasks/tasks.ts'
import { digestOf, orderedText } from './state.ts'

/** Longer arguments are compared by their digest. */
const MOST_SAME_CHARS = 1024

/** A request with a text that stands for its arguments, by which calls with the same key are compared: nothing of the task is parsed. */
export function withSame(request: TaskRequest): Soon<TaskRequest> {
  const text = orderedText(argumentsOf(request))
  if (text.length <= MOST_SAME_CHARS) return { same: text, ...request }
  return digestOf(text).then((digest) => ({ same: `sha-256 ${digest}`, ...request }))
}

/** Throws if the task with the same key had other arguments: its result would answer another question. */
export function checkSame(tasks: Tasks, head: TaskHead, { same }: TaskRequest): Soon<void> {
  return soon(head.same === '' ? hadSame(tasks, head, same) : head.same === same, (isSame) => {
    if (isSame) return
    const reason =
      'a task with the same key has other arguments; send the same arguments, or others that give another key'
    throw mcpError(
      BAD_PARAMS,
      { method: 'tools/call', reason },
      { data: { [KEY_TAKEN]: true }, hint: KEY_TAKEN_HINT },
    )
  })
}

/** The same for a task of an older program, whose head does not say it. */
function hadSame({ reads }: Tasks, head: TaskHead, same: string | undefined): Soon<boolean> {
  return soon(reads.of(head, 'request'), (found) => found === undefined || hasSame(found.text, same))
}

function hasSame(stored: string, same: string | undefined): Soon<boolean> {
  if (stored.startsWith('{"same":')) return stored.startsWith(`{"same":${JSON.stringify(same)},`)
  // An earlier version stored the task.
  return soon(withSame(JSON.parse(stored) as TaskRequest), (request) => request.same === same)
}

function argumentsOf({ params }: TaskRequest): JsonObject {
  return (params['arguments'] ?? {}) as JsonObject
}

/** The token for progress stays valid as long as the task runs. */
export function withToken(params: JsonObject, token: string | number | undefined): JsonObject {
  if (token === undefined) return params
  const meta = copyOf((params['_meta'] ?? {}) as JsonObject)
  meta[META.progressToken] = token
  return Object.assign(copyOf(params), { _meta: meta })
}

/** What a further attempt needs to know of a request. A task keeps little of what surrounds its arguments: each attempt parses all of it. */
export function requestOf({ params, peer, source }: Call): TaskRequest {
  const { name, arguments: input, _meta: meta } = params
  const own = isObject(meta) ? copyOf(meta, ...FIRST_ONLY) : {}
  return {
    revision: peer.dialect.revision,
    params: {
      name,
      ...(input === undefined ? {} : { arguments: input }),
      ...(Object.keys(own).length === 0 ? {} : { _meta: smallMembers(own, TRACE) }),
    },
    client: knownClient(peer.client),
    capabilities: smallMembers(peer.capabilities, CAPABILITIES),
    auth: source.auth === undefined ? undefined : plainClaims(source.auth),
    ip: source.ip,
    scopes: source.scopes,
  }
}

const TRACE = ['traceparent', 'tracestate', 'baggage'] as const
const CAPABILITIES = ['elicitation', 'sampling', 'roots', 'tasks', 'extensions'] as const
const CLIENT = ['name', 'version', 'title'] as const

function knownClient(client: ClientInfo | undefined): TaskRequest['client'] {
  if (client === undefined) return undefined
  const known = smallMembers(copyOf(client as unknown as JsonObject), CLIENT)
  const isNamed = CLIENT.every((name) => Object.hasOwn(known, name) || client[name] === undefined)
  return isNamed ? (known as unknown as TaskRequest['client']) : undefined
}

/** The source of a request for as long as its task runs, without its connection, and a copy of its headers. */
export function lastingSource(
  source: RequestSource,
): readonly [RequestSource, ReadonlyMap<string, string> | undefined] {
  if (source.header === undefined) return [source, undefined]
  const { auth, certified, scopes, ip, isParent, lifetime } = source
  const copies = new Map<string, string>()
  // HTTP/2 has another name for the host.
  for (const name of ['host', ...Object.keys(source.headers?.() ?? {})]) {
    const value = source.header?.(name)
    // A part of a text keeps the whole of it in memory.
    if (value !== undefined) copies.set(asSent(name), asSent(value))
  }
  const copied = (name: string): string | undefined => copies.get(name)
  return [{ auth, certified, scopes, ip, isParent, lifetime, header: copied }, copies]
}

/** The claims of a caller that JSON can carry, with large integers as digits. */
function plainClaims(auth: Auth): JsonObject {
  const digits = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
  const plain: Record<string, unknown> = {}
  for (const [claim, value] of Object.entries(auth)) {
    try {
      const text: string | undefined = JSON.stringify(value, digits)
      if (text !== undefined) plain[claim] = JSON.parse(text)
    } catch {
      // It refers to itself, for example.
    }
  }
  return plain
}

/** Members of `_meta` that concern only the request that created the task. */
const FIRST_ONLY: readonly string[] = Object.values(META)
