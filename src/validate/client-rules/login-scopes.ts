import type { ClientSubject } from '../client-subject.ts'
import { D_TO_E, E_ONLY, passed, unchecked, type Rule, type Transport, type Verdict } from '../rule.ts'
import {
  LOGIN_ENDLESS,
  LOGIN_NAMED,
  LOGIN_STEP_UP,
  LOGIN_WELL_KNOWN,
  READ,
  WRITE,
} from './login-scenarios.ts'
import { allOf, visitTo, whenLoggedIn, wrongStep, type LoginVisit } from './login-verdicts.ts'
import { broken } from './verdicts.ts'

const HTTP: readonly Transport[] = ['http']
const OFFLINE = 'offline_access'
/** The most logins for one call that count as a few. */
const FEW = 4

/** Rules about the scopes that a client asks for. */
export const CLIENT_SCOPE_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R282',
    level: 'should',
    revisions: D_TO_E,
    transports: HTTP,
    rule: 'Clients ask for the scopes of the challenge; if it has none, for all scopes_supported; otherwise for none.',
    how: 'Three servers name scopes in the challenge and in their metadata, in the metadata only, and nowhere.',
    fix: 'Take scope of WWW-Authenticate, else scopes_supported of the metadata of the server, else leave scope out.',
    check: (subject) =>
      whenLoggedIn(subject, (usual) =>
        allOf(
          () => asksFor(usual, []),
          async () => asksFor(await visitTo(subject, LOGIN_NAMED), [READ]),
          async () => asksFor(await visitTo(subject, LOGIN_WELL_KNOWN), [READ, WRITE]),
        ),
      ),
  },
  {
    id: 'R283',
    level: 'should',
    revisions: D_TO_E,
    transports: HTTP,
    rule: 'After 403 with insufficient_scope, clients log in again with the scope, but only a few times; at 2026-07-28 they keep their other scopes.',
    how: 'One server wants a further scope for calls, and another one refuses them for ever.',
    fix: 'Ask for the scopes of the challenge, at 2026-07-28 together with those that you had; repeat the call, and give up after a few logins.',
    check: (subject) =>
      whenLoggedIn(subject, () =>
        allOf(
          async () => stepsUp(await visitTo(subject, LOGIN_STEP_UP)),
          async () => givesUp(await visitTo(subject, LOGIN_ENDLESS)),
        ),
      ),
  },
  {
    id: 'R287',
    level: 'may',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Clients ask for offline_access only if the issuer lists it.',
    how: 'Looks at the scopes of logins with issuers that do not list it.',
    fix: 'Add offline_access only if scopes_supported of the issuer has it.',
    check: (subject) =>
      whenLoggedIn(subject, async (usual) => {
        for (const one of [usual, await visitTo(subject, LOGIN_WELL_KNOWN)])
          for (const step of one?.login.all('authorize') ?? [])
            if (one !== undefined && scopesOf(step.params).includes(OFFLINE))
              return wrongStep(
                one,
                step,
                'the client asks for offline_access, which the issuer does not list',
              )
        return passed
      }),
  },
]

function scopesOf(params: URLSearchParams): readonly string[] {
  return (params.get('scope') ?? '').split(' ').filter((one) => one !== '')
}

function asksFor(one: LoginVisit | undefined, wanted: readonly string[]): Verdict {
  const [step] = one?.login.all('authorize') ?? []
  if (one === undefined || step === undefined) return unchecked('the client does not log in')
  const asked = scopesOf(step.params).filter((scope) => scope !== OFFLINE)
  if (asked.length === wanted.length && wanted.every((scope) => asked.includes(scope))) return passed
  const shown = (scopes: readonly string[]): string => (scopes.length === 0 ? 'none' : scopes.join(' '))
  return wrongStep(one, step, `the client asks for the scopes ${shown(asked)} instead of ${shown(wanted)}`)
}

/** The challenge came, and the client asked for what it names and repeated the call. */
function stepsUp(one: LoginVisit | undefined): Verdict {
  const calls = one?.visit.requests('tools/call') ?? []
  const [first] = calls
  if (one === undefined || first === undefined || one.login.all('token').length === 0)
    return unchecked('the client calls no tool of a protected server')
  const { visit, login } = one
  if (login.accepted.includes(first.seen.at))
    return unchecked('the client asks for the further scope from the beginning')
  const again = login.all('authorize').find(({ at }) => at > first.seen.at)
  if (again === undefined)
    return broken(visit, first.seen, 'the call needs a further scope, and the client does not log in again')
  const asked = scopesOf(again.params)
  if (!asked.includes(WRITE))
    return wrongStep(one, again, `the challenge names ${WRITE}, and the client asks for ${asked.join(' ')}`)
  if (visit.isModern && !asked.includes(READ))
    return wrongStep(one, again, `the client gives up the scope ${READ}, which it had`)
  return calls.some(({ seen }) => login.accepted.includes(seen.at))
    ? passed
    : broken(visit, again, 'the client does not repeat the call with its new token')
}

function givesUp(one: LoginVisit | undefined): Verdict {
  const [first] = one?.visit.requests('tools/call') ?? []
  if (one === undefined || first === undefined)
    return unchecked('the client calls no tool of a protected server')
  const again = one.login.all('authorize').filter(({ at }) => at > first.seen.at)
  const last = again.at(FEW)
  return last === undefined
    ? passed
    : wrongStep(
        one,
        last,
        `the server refuses the call again and again, and the client logs in ${again.length} times`,
      )
}
