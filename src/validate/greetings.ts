import { isRevision, type Revision } from '../protocol/revisions.ts'
import type { Door } from './door.ts'
import { member, type Message } from './message.ts'
import { Session, type Reply } from './session.ts'
import { Trace } from './trace.ts'
import { NoEndpointError } from './wire-sse.ts'
import { within } from './within.ts'

/** The most time for closing a connection. */
const CLOSE_MS = 3_000
/** How long to wait for the answer to a request after a greeting that failed. */
const PROBE_MS = 1_000
/** Methods that a server of 2026-07-28 may have besides `server/discover`. */
const PROBES = ['tools/list', 'resources/list', 'prompts/list'] as const
/** Codes with which a server without older revisions may refuse `initialize`. */
const REFUSALS: ReadonlySet<unknown> = new Set([-32_600, -32_601, -32_602, -32_022])
/** Members of the result of `server/discover`, one of which shows that the method is meant. */
const OF_DISCOVER = ['supportedVersions', 'capabilities', 'serverInfo', 'resultType'] as const

/** What a server made of the greeting of one revision. */
export interface Greeted {
  readonly revision: Revision
  /**
   * `spoken`: it supports the revision; `declined`: it says that it does not; `refused`: status 401; `failed`: it answers with an error;
   * `wrong`: no server may answer like this; `silent`: no answer.
   */
  readonly is: 'spoken' | 'declined' | 'refused' | 'failed' | 'wrong' | 'silent'
  /** The version that it offers instead. */
  readonly offered?: Revision | undefined
  /** Whether any message came, also in a form that no client can read. */
  readonly isThere: boolean
  readonly ms: number
  readonly problem?: string | undefined
}

/** Greets a server at one revision. Never throws. */
export async function greetAt(door: Door, revision: Revision, ms: number): Promise<Greeted> {
  const began = performance.now()
  try {
    const wire = await door.open(new Trace(), ms)
    const session = new Session(wire, { revision, capabilities: {}, ms })
    try {
      const reply = await session.greet()
      const took = performance.now() - began
      const found = session.isModern ? await modern(session, reply) : await legacy(session, reply)
      const isThere = wire.hasOddMessages || wire.received.some(({ messages }) => messages.length > 0)
      return { revision, ms: took, isThere, problem: reply.problem, ...found }
    } finally {
      await within(session.close(), CLOSE_MS)
    }
  } catch (error) {
    const { message, hint } = error as Error & { readonly hint?: unknown }
    return {
      revision,
      is: /(?:response:|with|status|HTTP) 401\b/.test(message) ? 'refused' : 'silent',
      isThere: error instanceof NoEndpointError,
      ms: performance.now() - began,
      problem: typeof hint === 'string' ? `${message}; fix: ${hint}` : message,
    }
  }
}

type Found = Pick<Greeted, 'is' | 'offered'>

async function legacy(session: Session, { message, result, error, http }: Reply): Promise<Found> {
  if (http?.status === 401) return { is: 'refused' }
  if (error !== undefined && namesVersions(error)) return { is: 'declined' }
  if (REFUSALS.has(error?.['code'])) return { is: 'failed' }
  if (message === undefined || error !== undefined) {
    // Pings may come before the greeting, and only revisions with a greeting have them.
    const { result: pong } = await session.request('ping', undefined, { ms: PROBE_MS })
    return { is: pong !== undefined ? 'wrong' : message === undefined ? 'silent' : 'failed' }
  }
  const version = result?.['protocolVersion']
  if (version === session.revision) return { is: 'spoken' }
  if (isRevision(version)) return { is: 'declined', offered: version }
  return { is: mayBeNewer(version) ? 'declined' : 'wrong' }
}

async function modern(session: Session, { message, result, error, http }: Reply): Promise<Found> {
  if (http?.status === 401) return { is: 'refused' }
  const versions = result?.['supportedVersions']
  if (Array.isArray(versions) && versions.includes(session.revision)) return { is: 'spoken' }
  if (isList(versions) || (error !== undefined && namesVersions(error))) return { is: 'declined' }
  const isMeant = OF_DISCOVER.some((key) => result !== undefined && Object.hasOwn(result, key))
  if (isMeant || (await knowsResultTypes(session))) return { is: 'wrong' }
  return { is: message === undefined ? 'silent' : 'failed' }
}

/** Whether a server answers requests of 2026-07-28 in the form of that revision. */
async function knowsResultTypes(session: Session): Promise<boolean> {
  for (const method of PROBES) {
    const { result, error } = await session.request(method, undefined, { ms: PROBE_MS })
    if (typeof result?.['resultType'] === 'string') return true
    if (error?.['code'] !== -32_601) return false
  }
  return false
}

function namesVersions(error: Message): boolean {
  return isList(member(error, 'data', 'supported'))
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')
}

/** Whether a text may be a revision that came after this program: a date, and not one that lies far ahead. */
function mayBeNewer(version: unknown): boolean {
  if (typeof version !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(version)) return false
  return version > '2026-07-28' && Number(version.slice(0, 4)) <= new Date().getFullYear() + 1
}

/**
 * The revisions to check: those that the server supports, and the latest one whose greeting it answers as no server may, so that its rules say
 * what is wrong with it.
 */
export function revisionsToCheck(all: readonly Greeted[]): readonly Revision[] {
  const isSpoken = (revision: Revision): boolean =>
    all.some((one) => one.revision === revision && one.is === 'spoken')
  const isWrong = ({ is, offered }: Greeted): boolean =>
    is === 'wrong' || (offered !== undefined && !isSpoken(offered))
  const isModern = ({ revision }: Greeted): boolean => revision === '2026-07-28'
  const wrong = [
    all.filter((one) => !isModern(one)).findLast(isWrong),
    all.find((one) => isModern(one) && isWrong(one)),
  ]
  const found = all.filter((one) => one.is === 'spoken' || wrong.includes(one))
  if (found.length > 0) return found.map(({ revision }) => revision)
  // A server that is there must be able to greet somebody, unless it says what it supports.
  const isLost = all.every(({ is }) => is === 'failed' || is === 'silent') && all.some((one) => one.isThere)
  const last = isLost ? all.findLast((one) => !isModern(one)) : undefined
  return last === undefined ? [] : [last.revision]
}
