import { REVISIONS, type Revision } from '../protocol/revisions.ts'
import type { Door } from './door.ts'
import { greetAt, revisionsToCheck, type Greeted } from './greetings.ts'
import { unchecked } from './rule.ts'
import { checkServer, outcomeOf, TIME_OVER, type Outcome, type RunOptions } from './run.ts'
import { AUTHORIZATION_RULES, hasMetadata } from './server-rules/authorization.ts'
import { GIST_RULES } from './server-rules/gist.ts'
import { SERVER_RULES } from './server-rules.ts'
import { ServerSubject } from './server-subject.ts'
import { Memory } from './memory.ts'
import { Trace } from './trace.ts'
import { within } from './within.ts'

/** The most time for closing a connection, and for ending programs. Those that are left end with this process. */
const CLOSE_MS = 3_000
/** Why most rules are not checked with a protected server. */
const NEEDS_TOKEN = 'the server requires a token'

/** A server whose quickest greeting takes this long waits for something: most rules begin with one. */
const SLOW_MS = 300

/** How many revisions of a program are checked at once: starting it and waiting for it take most of the time. */
const MOST_PROGRAMS = 2

/** How long to wait for answers of a server that leaves greetings unanswered, and how many it leaves before. */
const SHORT_MS = 1_500
const MOST_SILENT = 2

export interface ServerRunOptions extends RunOptions {
  /** The ways to the server, such as Streamable HTTP and HTTP+SSE. */
  readonly doors: readonly Door[]
  /** The revisions to check. Default: those that the server supports. */
  readonly revisions?: readonly Revision[] | undefined
  readonly mayCall: boolean
  /** Whether tools that say that they are destructive may be called too. Default: `false`. */
  readonly mayDestroy?: boolean | undefined
  /** How long to wait for an answer. */
  readonly ms: number
  readonly latency?: Readonly<{ [percentile: string]: number }> | undefined
  /** Whether to check the envelopes at `/gist` too, if there are any. */
  readonly hasGist?: boolean | undefined
}

/** What was found on one way to the server. */
export interface Place {
  readonly transport: Door['transport']
  /** The revisions that were checked. */
  readonly revisions: readonly Revision[]
  /** The revisions that the time was not enough for. Default: none. */
  readonly left?: readonly Revision[] | undefined
  /** Why the server could not be asked, if it could not. */
  readonly problem?: string | undefined
  /** The revisions at which the server refused the greeting with status 401. Default: none. */
  readonly refused?: readonly Revision[] | undefined
}

export interface ServerRun {
  readonly outcomes: readonly Outcome[]
  readonly places: readonly Place[]
}

/** Checks a server on every way to it, at every revision that it supports or that was asked for. */
export async function validateServer(options: ServerRunOptions): Promise<ServerRun> {
  const outcomes: Outcome[] = []
  const places: Place[] = []
  for (const door of options.doors) {
    try {
      const { place, ...looked } = await placeOf(door, options)
      const revisions = (options.revisions ?? place.revisions).filter((one) => isSpoken(one, door.transport))
      places.push(place.problem === undefined ? { ...place, revisions } : place)
      if (place.problem === undefined)
        outcomes.push(...(await checkDoor(door, { ...looked, revisions }, options)))
      else if (place.refused !== undefined) outcomes.push(...(await checkProtected(door, place, options)))
    } finally {
      await within(door.close?.(), CLOSE_MS)
    }
  }
  return { outcomes, places }
}

async function checkDoor(
  door: Door,
  { revisions, isSlow, silent }: Omit<Looked, 'place'> & { readonly revisions: readonly Revision[] },
  options: ServerRunOptions,
): Promise<readonly Outcome[]> {
  const { mayCall, mayDestroy, ms, latency, signal } = options
  const rules = options.hasGist === true ? [...SERVER_RULES, ...GIST_RULES] : SERVER_RULES
  const check = async (revision: Revision, memory?: Memory): Promise<readonly Outcome[]> => {
    if (signal.aborted) return []
    const subject = new ServerSubject({
      door,
      revision,
      trace: new Trace(memory),
      mayCall,
      mayDestroy,
      ms: silent.includes(revision) ? Math.min(ms, SHORT_MS) : ms,
      latency,
    })
    try {
      return await checkServer(rules, subject, options)
    } finally {
      await subject.close()
    }
  }
  // Latency is measured on a server that has nothing else to do.
  const isAlone = Object.keys(latency ?? {}).length > 0
  const most = isAlone ? 1 : isSlow ? revisions.length : door.transport === 'stdio' ? MOST_PROGRAMS : 1
  const memory = most > 1 ? new Memory() : undefined
  const found = new Map<Revision, readonly Outcome[]>()
  const left = [...revisions]
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      found.set(next, await check(next, memory))
  }
  await Promise.all(Array.from({ length: most }, work))
  return revisions.flatMap((revision) => found.get(revision) ?? [])
}

/**
 * Checks what a protected server shows without a token. It does not show which revisions it supports. Unless one was asked for, those are checked
 * that want no more than what the server has: 2025-03-26 knows no metadata, and from 2025-11-25 on they need not be in the challenge.
 */
async function checkProtected(
  door: Door,
  { refused = [] }: Place,
  options: ServerRunOptions,
): Promise<readonly Outcome[]> {
  const { mayCall, ms, only, until, signal } = options
  if (door.transport !== 'http') return []
  const subjectAt = (revision: Revision): ServerSubject =>
    new ServerSubject({
      door,
      revision,
      trace: new Trace(),
      mayCall,
      ms: Math.max(0, Math.min(ms, Math.ceil(until - performance.now()))),
    })
  const outcomes: Outcome[] = []
  for (const revision of options.revisions ?? (await claimedBy(subjectAt('2025-11-25'), refused))) {
    if (signal.aborted || !isSpoken(revision, door.transport)) continue
    const subject = subjectAt(revision)
    const isChecked = ({ id }: { readonly id: string }): boolean =>
      AUTHORIZATION_RULES.some((rule) => rule.id === id)
    try {
      outcomes.push(...(await checkServer(AUTHORIZATION_RULES, subject, options)))
      for (const rule of SERVER_RULES)
        if (
          !isChecked(rule) &&
          rule.revisions.includes(revision) &&
          rule.transports.includes(door.transport) &&
          (only?.includes(rule.id) ?? true)
        )
          outcomes.push(
            outcomeOf(rule, { verdict: unchecked(NEEDS_TOKEN), ms: 0, role: 'server', place: subject }),
          )
    } finally {
      await subject.close()
    }
  }
  return outcomes
}

/** The revisions whose rules about authorization a server without metadata, or with metadata, can be expected to follow. */
async function claimedBy(subject: ServerSubject, refused: readonly Revision[]): Promise<readonly Revision[]> {
  try {
    const isLate = await hasMetadata(subject).catch(() => false)
    return refused.filter((one) => (isLate ? one >= '2025-11-25' : one === '2025-03-26'))
  } finally {
    await subject.close()
  }
}

/** HTTP+SSE belongs to the oldest revision, Streamable HTTP to the others. */
export function isSpoken(revision: Revision, transport: Door['transport']): boolean {
  if (transport === 'sse') return revision === '2024-11-05'
  return transport !== 'http' || revision !== '2024-11-05'
}

/** How a server can be reached, and which revisions are checked there. */
interface Looked {
  readonly place: Place
  readonly isSlow: boolean
  /** The revisions at which it does not answer the greeting. */
  readonly silent: readonly Revision[]
}

/** Greets a server at every revision, to find those that it supports, and whether it greets slowly. */
async function placeOf(door: Door, options: ServerRunOptions): Promise<Looked> {
  const { ms, until, signal } = options
  const all: Greeted[] = []
  let problem: string | undefined
  let left: readonly Revision[] = []
  for (const revision of REVISIONS.filter((one) => isSpoken(one, door.transport))) {
    const silent = all.filter(({ is }) => is === 'silent').length
    const most = silent >= MOST_SILENT && revision !== '2026-07-28' ? Math.min(ms, SHORT_MS) : ms
    // Some timers take whole numbers only.
    const wait = Math.min(most, Math.ceil(until - performance.now()))
    if (signal.aborted || wait <= 0) {
      problem ??= signal.aborted ? 'the run was stopped' : TIME_OVER
      if (options.revisions === undefined)
        left = REVISIONS.filter((one) => one >= revision && isSpoken(one, door.transport))
      break
    }
    const greeted = await greetAt(door, revision, wait)
    all.push(greeted)
    if (greeted.problem !== undefined)
      problem ??= greeted.is === 'silent' && performance.now() >= until ? TIME_OVER : greeted.problem
  }
  const { transport } = door
  const quickest = Math.min(...all.filter(({ is }) => is === 'spoken').map((one) => one.ms))
  // Programs compete for the processors of this machine.
  const isSlow = transport !== 'stdio' && quickest >= SLOW_MS && quickest < Infinity
  const revisionsOf = (is: Greeted['is']): readonly Revision[] =>
    all.filter((one) => one.is === is).map(({ revision }) => revision)
  const [refused, silent, revisions] = [revisionsOf('refused'), revisionsOf('silent'), revisionsToCheck(all)]
  const isThere = options.revisions !== undefined && refused.length === 0 && all.some((one) => one.isThere)
  if (revisions.length > 0 || isThere)
    return { place: { transport, revisions, ...(left.length > 0 && { left }) }, isSlow, silent }
  const found = refused.length > 0 ? refusalOf(door) : (problem ?? 'the server supports no revision')
  const place = { transport, revisions, problem: found, ...(refused.length > 0 && { refused }) }
  return { place, isSlow, silent }
}

function refusalOf({ headers = {} }: Door): string {
  const hasToken = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  return hasToken
    ? 'the server rejects the token (status 401)'
    : 'the server requires authorization (status 401)'
}
