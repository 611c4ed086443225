import type { ClientSubject } from '../client-subject.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Turn } from '../client/turn.ts'
import { isProbe as isModernRequest, type Seen, type Visit } from '../client/visit.ts'
import type { Message } from '../message.ts'
import { failed, passed, unchecked, type Verdict } from '../rule.ts'

/** A failure, with the exchange around what the client sent. */
export function broken(visit: Visit, seen: Pick<Seen, 'at'> | undefined, found: string): Verdict {
  const where = visit.scenario === 'usual' ? '' : ` (scenario ${visit.scenario})`
  return failed(`${found}${where}`, seen === undefined ? visit.trace.between(0) : visit.around(seen.at))
}

/** A value as a finding shows it. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 150)
}

/** Fails if the client goes on with the usual server, but not with another one. */
export async function goesOn(subject: ClientSubject, scenario: Scenario, found: string): Promise<Verdict> {
  const [usual, other] = await Promise.all([subject.usual(), subject.visit(scenario)])
  if (usual.steps === 0) return unchecked('the client sends no request after its first one')
  return other.steps > 0 ? passed : broken(other, undefined, `${found}: ${other.ending}`)
}

/** The note of a scenario that has the place at which it did what it is about. */
export const MOMENT = 'moment'

/** Fails if the client goes on with the usual server, but not after the moment of another one. */
export async function goesOnAfter(
  subject: ClientSubject,
  scenario: Scenario,
  found: string,
): Promise<Verdict> {
  const [usual, other] = await Promise.all([subject.usual(), subject.visit(scenario)])
  const moment = other.notes.get(MOMENT)
  if (usual.steps < 2 || typeof moment !== 'number')
    return unchecked('the client sends less than two requests')
  return other.ownRequests().some(({ seen }) => seen.at > moment)
    ? passed
    : broken(other, { at: moment }, `${found}: ${other.ending}`)
}

/** A server that sends a notification before its first response. */
export function straying(about: Omit<Scenario, 'begin'>, method: string, params: Message): Scenario {
  return {
    ...about,
    begin: () => ({
      async message(turn) {
        const { notes } = turn.visit
        const isFirst = turn.isRequest && turn.method !== 'initialize' && !isProbe(turn)
        if (!isFirst || notes.has(MOMENT)) return false
        notes.set(MOMENT, turn.visit.trace.mark)
        await turn.notify(method, params)
        return false
      },
    }),
  }
}

/** Whether a client tries 2026-07-28 with a server of another revision. */
function isProbe({ message, visit }: Turn): boolean {
  return !visit.isModern && isModernRequest(message)
}

/** Looks at messages of all visits; `wrong` says what is wrong with one. */
export async function everyMessage(
  subject: ClientSubject,
  concerns: (message: Message) => boolean,
  wrong: (message: Message) => string | undefined,
): Promise<Verdict> {
  let count = 0
  for (const visit of await subject.visits())
    for (const { message, seen } of visit.heard) {
      if (!concerns(message)) continue
      count++
      const found = wrong(message)
      if (found !== undefined) return broken(visit, seen, found)
    }
  return count === 0 ? unchecked('the client sent no such message') : passed
}

/** Looks at all visits: a failure of one fails, and one that passes is enough otherwise. */
export async function everyVisit(
  subject: ClientSubject,
  check: (visit: Visit) => Verdict | Promise<Verdict>,
): Promise<Verdict> {
  let best: Verdict = unchecked('the client did nothing that shows it')
  for (const visit of await subject.visits()) {
    const verdict = await check(visit)
    if (verdict.is === 'failed') return verdict
    if (best.is !== 'passed') best = verdict
  }
  return best
}
