import { REVISIONS, type Revision } from '../protocol/revisions.ts'
import type { Door } from './door.ts'
import { checkServer, type Outcome, type RunOptions } from './run.ts'
import { SERVER_RULES } from './server-rules.ts'
import { ServerSubject } from './server-subject.ts'
import { Session } from './session.ts'
import { Trace } from './trace.ts'
import { member } from './message.ts'

export interface ServerRunOptions extends RunOptions {
  /** The ways to the server, such as Streamable HTTP and HTTP+SSE. */
  readonly doors: readonly Door[]
  /** The revisions to check. Default: those that the server supports. */
  readonly revisions?: readonly Revision[] | undefined
  readonly mayCall: boolean
  /** How long to wait for an answer. */
  readonly ms: number
  readonly latency?: Readonly<{ [percentile: string]: number }> | undefined
  /** Is called before a revision is checked on a transport. */
  onPlace?(revision: Revision, transport: Door['transport']): void
}

/** What was found on one way to the server. */
export interface Place {
  readonly transport: Door['transport']
  readonly revisions: readonly Revision[]
  /** Why the server could not be asked, if it could not. */
  readonly problem?: string | undefined
}

export interface ServerRun {
  readonly outcomes: readonly Outcome[]
  readonly places: readonly Place[]
}

/** Checks a server on every way to it, at every revision that it supports or that was asked for. */
export async function validateServer(options: ServerRunOptions): Promise<ServerRun> {
  const { doors, mayCall, ms, latency, signal } = options
  const outcomes: Outcome[] = []
  const places: Place[] = []
  for (const door of doors) {
    const found = await revisionsOf(door, ms)
    const revisions = (options.revisions ?? found.revisions).filter((one) => isSpoken(one, door.transport))
    places.push({ transport: door.transport, revisions: found.revisions, problem: found.problem })
    if (found.problem !== undefined) continue
    for (const revision of revisions) {
      if (signal.aborted) break
      options.onPlace?.(revision, door.transport)
      const subject = new ServerSubject({ door, revision, trace: new Trace(), mayCall, ms, latency })
      try {
        outcomes.push(...(await checkServer(SERVER_RULES, subject, options)))
      } finally {
        await subject.close()
      }
    }
  }
  return { outcomes, places }
}

/** HTTP+SSE belongs to the oldest revision, Streamable HTTP to the others. */
export function isSpoken(revision: Revision, transport: Door['transport']): boolean {
  if (transport === 'sse') return revision === '2024-11-05'
  return transport !== 'http' || revision !== '2024-11-05'
}

/** The revisions that a server supports: it echoes those before 2026-07-28, and answers `server/discover` at that one. */
async function revisionsOf(
  door: Door,
  ms: number,
): Promise<{ readonly revisions: readonly Revision[]; readonly problem: string | undefined }> {
  const revisions: Revision[] = []
  let problem: string | undefined
  for (const revision of REVISIONS.filter((one) => isSpoken(one, door.transport))) {
    try {
      const wire = await door.open(new Trace(), ms)
      const session = new Session(wire, { revision, capabilities: {}, ms })
      try {
        const { result, problem: silence } = await session.greet()
        const isSupported = session.isModern
          ? Array.isArray(member(result, 'supportedVersions'))
          : member(result, 'protocolVersion') === revision
        if (isSupported) revisions.push(revision)
        problem ??= silence
      } finally {
        await session.close()
      }
    } catch (error) {
      problem ??= (error as Error).message
    }
  }
  return {
    revisions,
    problem: revisions.length > 0 ? undefined : (problem ?? 'the server supports no revision'),
  }
}
