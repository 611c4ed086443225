import type { ClientSubject } from '../client-subject.ts'
import { E_ONLY, passed, unchecked, type Rule, type Transport, type Verdict } from '../rule.ts'
import {
  LOGIN_MISSING_ISSUER,
  LOGIN_MOVED,
  LOGIN_OTHER_ISSUER,
  LOGIN_OTHER_METADATA,
} from './login-scenarios.ts'
import { allOf, isRefused, visitTo, whenLoggedIn, wrongStep, type LoginVisit } from './login-verdicts.ts'
import { broken } from './verdicts.ts'

const HTTP: readonly Transport[] = ['http']

/** Rules about clients that deal with several issuers, one of which may be hostile. */
export const CLIENT_ISSUER_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R284',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'The issuer in its metadata and in the answer of a login must be the one that the client chose, character by character.',
    how: 'Three issuers have another name in their metadata, leave out a promised iss, and send one that differs in a slash.',
    fix: 'Compare issuer of the metadata with the address that they were built from, and iss with it; refuse a missing iss that was promised.',
    check: (subject) =>
      allOf(
        () => whenLoggedIn(subject, goodAnswer),
        () =>
          isRefused(subject, LOGIN_MISSING_ISSUER, {
            after: 'authorize',
            what: 'token',
            found: 'the issuer promises iss, the answer has none, and the client uses its code',
          }),
        () =>
          isRefused(subject, LOGIN_OTHER_ISSUER, {
            after: 'authorize',
            what: 'token',
            found: 'the answer has the iss of another issuer, and the client uses its code',
          }),
        () =>
          isRefused(subject, LOGIN_OTHER_METADATA, {
            after: 'metadata',
            what: 'authorize',
            found: 'the metadata of the issuer name another one, and the client logs in',
          }),
      ),
  },
  {
    id: 'R285',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Client ids and tokens belong to the issuer that they came from; with another issuer, clients register again.',
    how: 'A server changes its issuer, and rejects the tokens of the first one.',
    fix: 'Keep registrations and tokens by issuer, and read the metadata of the server again after 401.',
    check: (subject) => whenLoggedIn(subject, async () => moved(await visitTo(subject, LOGIN_MOVED))),
  },
]

/** An answer with the right iss is good. */
function goodAnswer({ visit, login }: LoginVisit): Verdict {
  const [step] = login.all('authorize')
  return login.all('token').length > 0
    ? passed
    : broken(visit, step, 'the answer has the right iss, and the client does not use its code')
}

function moved(one: LoginVisit | undefined): Verdict {
  const [first] = one?.visit.requests('tools/call') ?? []
  if (one === undefined || first === undefined)
    return unchecked('the client calls no tool of a protected server')
  const { login } = one
  const second = login.steps.filter(({ issuer }) => issuer === '/second')
  for (const step of second) {
    const id = step.params.get('client_id') ?? ''
    if (login.clients.get(id) === '/first')
      return wrongStep(one, step, `the client uses ${id} of the first issuer with the second one`)
    const refresh = step.params.get('refresh_token')
    if (
      refresh !== null &&
      [...login.tokens].some(([text, { issuer }]) => refresh.endsWith(text) && issuer === '/first')
    )
      return wrongStep(one, step, 'the client sends the refresh token of the first issuer to the second one')
  }
  return second.some(({ what }) => what === 'authorize')
    ? passed
    : unchecked('the client does not log in with the new issuer of a server')
}
