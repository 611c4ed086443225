import type { ClientSubject } from '../client-subject.ts'
import { QUESTIONS, usualOffer } from '../client/offer.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Turn } from '../client/turn.ts'
import type { Heard, Visit } from '../client/visit.ts'
import { member, type Message } from '../message.ts'
import { E_ONLY, passed, TRANSPORTS, unchecked, type Rule } from '../rule.ts'
import { isRetry, targetOf } from './questions-seen.ts'
import { broken, shown } from './verdicts.ts'

const ASKING_URI = 'test://asks'
/** Longer than any visit. */
const LONG: Message = { ttlMs: 600_000, cacheScope: 'public' }

/** Rules about results that clients keep, at 2026-07-28. */
export const CLIENT_CACHING_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R232',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A result is not used for a request with other parameters.',
    how: 'Lets the client keep what it reads, and looks whether it still reads each resource.',
    fix: 'Keep results by their method and all parameters that change them, such as uri and cursor.',
    async check(subject) {
      const [usual, visit] = await Promise.all([subject.usual(), subject.visit(KEPT)])
      if (visit.ending !== usual.ending)
        return unchecked(`the client did not come to its end: ${visit.ending}`)
      const [before, now] = [readsIn(usual), readsIn(visit)]
      const wanted = [...new Set(before.map(({ message }) => targetOf(message)))]
      if (wanted.length < 2 || now.length === 0)
        return unchecked('the client does not read several resources')
      const missing = wanted.find((uri) => !now.some(({ message }) => targetOf(message) === uri))
      return missing === undefined
        ? passed
        : broken(visit, now[0]?.seen, `the client does not read ${shown(missing)} after it has read another`)
    },
  },
  {
    id: 'R233',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'The result of a request that was repeated with answers is not kept.',
    how: 'Asks a question when a resource is read, and looks whether the client reads it again.',
    fix: 'Do not keep results of requests with inputResponses or requestState.',
    async check(subject) {
      const [usual, visit] = await Promise.all([subject.usual(), subject.visit(KEPT)])
      if (visit.ending !== usual.ending)
        return unchecked(`the client did not come to its end: ${visit.ending}`)
      const repeats = readsIn(usual).filter(({ message }) => targetOf(message) === 'test://text').length
      if (repeats < 2) return unchecked('the client reads each resource only once')
      const own = visit
        .ownRequests('resources/read')
        .filter(({ message }) => targetOf(message) === ASKING_URI)
      if (!own.some(({ message }) => isRetry(message)))
        return unchecked('the client does not answer a question of resources/read')
      return own.filter(({ message }) => !isRetry(message)).length > 1
        ? passed
        : broken(
            visit,
            own[0]?.seen,
            'the client keeps the result of a request that it repeated with answers',
          )
    },
  },
  {
    id: 'R235',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A negative or missing ttlMs means 0.',
    how: 'Lists tools with a negative ttlMs, or without one, and looks whether the client lists them again.',
    fix: 'Keep a result only if its ttlMs is greater than 0.',
    async check(subject) {
      const usual = await subject.usual()
      if (listsIn(usual) < 2) return unchecked('the client lists the tools only once')
      const visits = await Promise.all([subject.visit(NEGATIVE), subject.visit(NO_LIFETIME)])
      const done = visits.filter(({ ending }) => ending === usual.ending)
      const kept = done.find((visit) => listsIn(visit) === 1)
      if (kept !== undefined) return broken(kept, undefined, 'the client keeps a list that has no lifetime')
      return done.length > 0 ? passed : unchecked('the client did not come to its end')
    },
  },
]

/** The requests that read a resource of the usual server. */
function readsIn(visit: Visit): readonly Heard[] {
  return visit.ownRequests('resources/read').filter(({ message }) => targetOf(message) !== ASKING_URI)
}

function listsIn(visit: Visit): number {
  return visit
    .ownRequests('tools/list')
    .filter(({ message }) => member(message, 'params', 'cursor') === undefined).length
}

const KEPT: Scenario = {
  name: 'kept-results',
  does: 'lets clients keep its resources, and asks a question before one',
  revisions: E_ONLY,
  transports: TRANSPORTS,
  begin: () => ({
    async message(turn) {
      const { resources } = usualOffer(turn.revision)
      if (turn.method === 'resources/list')
        await turn.reply({ resources: [...resources, { uri: ASKING_URI, name: 'asks' }], ...LONG })
      else if (turn.method === 'resources/read') await read(turn)
      else return false
      return true
    },
  }),
}

async function read(turn: Turn): Promise<void> {
  const uri = String(turn.params['uri'])
  const question = Object.values(QUESTIONS).find(([capability]) =>
    Object.hasOwn(turn.capabilities, capability),
  )
  if (uri === ASKING_URI && question !== undefined && !isRetry(turn.message)) {
    const [, method, params] = question
    return turn.require({ question: { method, params } }, 'state of a resource')
  }
  await turn.reply({ contents: [{ uri, mimeType: 'text/plain', text: 'a text' }], ...LONG })
}

/** A server that lists its tools with a lifetime that means none. */
function listing(about: Pick<Scenario, 'name' | 'does'>, ttlMs: number | undefined): Scenario {
  return {
    ...about,
    revisions: E_ONLY,
    transports: TRANSPORTS,
    begin: () => ({
      async message(turn) {
        if (turn.method !== 'tools/list') return false
        await turn.reply({ tools: usualOffer(turn.revision).tools, ttlMs })
        return true
      },
    }),
  }
}

const NEGATIVE = listing({ name: 'negative-lifetime', does: 'lists its tools with a negative ttlMs' }, -5)
const NO_LIFETIME = listing({ name: 'no-lifetime', does: 'lists its tools without ttlMs' }, undefined)
