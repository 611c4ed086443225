import { createHash } from 'node:crypto'
import type { ClientSubject } from '../client-subject.ts'
import type { LoginStep } from '../client/login-server.ts'
import type { Revision } from '../../protocol/revisions.ts'
import {
  absent,
  B_TO_E,
  C_TO_E,
  E_ONLY,
  passed,
  unchecked,
  type Rule,
  type Transport,
  type Verdict,
} from '../rule.ts'
import { CLIENT_DISCOVERY_RULES } from './login-discovery.ts'
import { CLIENT_SCOPE_RULES } from './login-scopes.ts'
import {
  LOGIN_NAMED,
  LOGIN_OTHER_RESOURCE,
  LOGIN_REDIRECT,
  LOGIN_STEP_UP,
  LOGIN_WITHOUT_PKCE,
  LOGIN_WRONG_STATE,
} from './login-scenarios.ts'
import { CLIENT_ISSUER_RULES } from './login-issuers.ts'
import { allOf, isRefused, visitTo, whenLoggedIn, wrongStep, type LoginVisit } from './login-verdicts.ts'
import { broken, shown } from './verdicts.ts'

const HTTP: readonly Transport[] = ['http']

/** Rules about tokens, and about the requests with which a client gets them. */
const TOKEN_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R271',
    level: 'must',
    revisions: B_TO_E,
    transports: HTTP,
    rule: 'Every request to the server has the token in the header Authorization; no URL and no other server gets it.',
    how: 'Lets the client log in, and looks at all its requests to the server and to the authorization server; another server redirects them.',
    fix: 'Send Authorization: Bearer with each POST, GET and DELETE to the server, and nowhere else.',
    check: (subject) =>
      whenLoggedIn(subject, (usual) =>
        allOf(
          () => tokenUse(usual),
          async () => elsewhere(await visitTo(subject, LOGIN_REDIRECT)) ?? passed,
        ),
      ),
  },
  {
    id: 'R278',
    level: 'must',
    revisions: C_TO_E,
    transports: HTTP,
    rule: 'The parameter resource names the server in authorization and token requests, and must agree with its metadata.',
    how: 'Looks at both requests; another server has metadata with the resource of a stranger.',
    fix: 'Send resource with both requests. Do not log in if the resource in the metadata is not that of the server.',
    check: (subject) =>
      allOf(
        () => whenLoggedIn(subject, resources),
        () =>
          isRefused(subject, LOGIN_OTHER_RESOURCE, {
            after: 'document',
            what: 'authorize',
            found:
              'the metadata of the server have the resource https://other.invalid/mcp, and the client logs in',
          }),
      ),
  },
  {
    id: 'R280',
    level: 'must',
    revisions: B_TO_E,
    transports: HTTP,
    rule: 'Clients use PKCE; from 2025-11-25 on with S256, and not with issuers that do not advertise it.',
    how: 'Compares code_challenge and code_verifier; another issuer has no code_challenge_methods_supported.',
    fix: 'Send code_challenge with the method S256, and code_verifier with the code. Refuse issuers that do not name S256.',
    check: (subject) =>
      allOf(
        () => whenLoggedIn(subject, (usual) => pkce(usual, subject.revision)),
        () =>
          subject.revision < '2025-11-25'
            ? passed
            : isRefused(subject, LOGIN_WITHOUT_PKCE, {
                after: 'metadata',
                what: 'authorize',
                found: 'the issuer does not advertise PKCE, and the client logs in',
              }),
      ),
  },
  {
    id: 'R286',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'A client that registers itself says whether it is native or web.',
    how: 'Looks at application_type of the registration.',
    fix: 'Register with application_type "native", or "web" for a client on a web site.',
    check: (subject) =>
      whenLoggedIn(subject, (usual) => {
        const [first] = usual.login.all('register')
        if (first === undefined) return absent('the client does not register itself')
        const type = first.body['application_type']
        return type === 'native' || type === 'web'
          ? passed
          : wrongStep(usual, first, `the registration has application_type ${shown(type)}`)
      }),
  },
  {
    id: 'R288',
    level: 'should',
    revisions: B_TO_E,
    transports: HTTP,
    rule: 'Clients send a state that nobody can guess, and refuse an answer with another one.',
    how: 'Looks at the state; another issuer sends the browser back with the state of another login.',
    fix: 'Make a random state for each login, and compare it before the code is used.',
    check: (subject) =>
      allOf(
        () => whenLoggedIn(subject, states),
        () =>
          isRefused(subject, LOGIN_WRONG_STATE, {
            after: 'authorize',
            what: 'token',
            found: 'the answer has the state of another login, and the client uses its code',
          }),
      ),
  },
  {
    id: 'R290',
    level: 'convention',
    revisions: C_TO_E,
    transports: HTTP,
    rule: 'The client authenticates at the token endpoint as the metadata of the issuer and its registration say.',
    how: 'Three issuers want no secret, one in the header, and one in the body.',
    fix: 'Choose from token_endpoint_auth_methods_supported: client_secret_basic, client_secret_post or none.',
    check: (subject) =>
      whenLoggedIn(subject, (usual) =>
        allOf(
          () => methodOf(usual, 'none'),
          async () => methodOf(await visitTo(subject, LOGIN_NAMED), 'client_secret_basic'),
          async () => methodOf(await visitTo(subject, LOGIN_STEP_UP), 'client_secret_post'),
        ),
      ),
  },
]

/** Rules about authorization. */
export const CLIENT_AUTHORIZATION_RULES: readonly Rule<ClientSubject>[] = [
  ...TOKEN_RULES,
  ...CLIENT_DISCOVERY_RULES,
  ...CLIENT_SCOPE_RULES,
  ...CLIENT_ISSUER_RULES,
].toSorted((a, b) => a.id.localeCompare(b.id))

function tokenUse({ visit, login }: LoginVisit): Verdict {
  const texts = [...login.tokens.keys()]
  if (texts.length === 0) return unchecked('the client gets no token')
  const all = [...visit.seen, ...visit.fetched].flatMap(({ at, http }) =>
    http === undefined ? [] : [{ at, http }],
  )
  for (const seen of all)
    if (texts.some((text) => seen.http.path.includes(text)))
      return broken(visit, seen, 'a URL has the token in it')
  const lost = elsewhere({ visit, login })
  if (lost !== undefined) return lost
  const [first] = login.accepted
  const own = visit.seen.flatMap(({ at, http }) =>
    http?.path.split('?')[0] === '/mcp' ? [{ at, http }] : [],
  )
  const later = own.filter(({ at }) => first === undefined || at > first)
  if (first === undefined) {
    const [last] = later.slice(-1)
    return broken(visit, last, 'the client has a token, and sends no request with it')
  }
  const bare = later.find(({ http }) => !/^Bearer \S/i.test(http.headers['authorization'] ?? ''))
  if (bare !== undefined)
    return broken(visit, bare, `${bare.http.method} has no token, although the client has one`)
  return later.length > 0 ? passed : unchecked('the client sends one request with its token only')
}

/** The failure if another origin than that of the server got the token. */
function elsewhere(one: LoginVisit | undefined): Verdict | undefined {
  const texts = [...(one?.login.tokens.keys() ?? [])]
  const seen = one?.visit.fetched.find(({ http }) =>
    texts.some((text) => (http.headers['authorization'] ?? '').includes(text)),
  )
  if (one === undefined || seen === undefined) return undefined
  const { visit } = one
  return broken(visit, seen, `the client sends the token of the server to ${visit.site}${seen.path}`)
}

function resources(usual: LoginVisit): Verdict {
  const { visit, login } = usual
  for (const step of [...login.all('authorize'), ...login.all('token')]) {
    const named = step.params.getAll('resource')
    if (named.some((one) => canonical(one) === visit.url)) continue
    const kind = step.what === 'authorize' ? 'authorization' : 'token'
    return wrongStep(
      usual,
      step,
      named.length === 0
        ? `the ${kind} request has no resource`
        : `the ${kind} request has the resource ${shown(named[0])}, and the server is ${visit.url}`,
    )
  }
  return login.all('token').length > 0 ? passed : unchecked('the client sends no token request')
}

function canonical(text: string): string {
  return text.replace(/^[^/]*\/\/[^/]*/, (start) => start.toLowerCase()).replace(/\/$/, '')
}

function pkce(usual: LoginVisit, revision: Revision): Verdict {
  const { login } = usual
  const [request] = login.all('authorize')
  const [exchange] = login.all('token')
  const challenge = request?.params.get('code_challenge') ?? undefined
  if (request === undefined) return unchecked('the client sends no authorization request')
  if (challenge === undefined)
    return wrongStep(usual, request, 'the authorization request has no code_challenge')
  const method = request.params.get('code_challenge_method') ?? 'plain'
  if (method !== 'S256' && (method !== 'plain' || revision >= '2025-11-25'))
    return wrongStep(usual, request, `the code_challenge_method is ${method}`)
  if (exchange === undefined) return unchecked('the client sends no token request')
  const verifier = exchange.params.get('code_verifier') ?? undefined
  if (verifier === undefined) return wrongStep(usual, exchange, 'the token request has no code_verifier')
  const expected = method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url')
  return expected === challenge
    ? passed
    : wrongStep(usual, exchange, 'the code_verifier does not belong to the code_challenge')
}

function states(usual: LoginVisit): Verdict {
  const wrong = usual.login.all('authorize').find(({ params }) => (params.get('state') ?? '').length < 8)
  if (wrong === undefined) return passed
  const state = wrong.params.get('state')
  return wrongStep(
    usual,
    wrong,
    state === null ? 'the authorization request has no state' : `the state ${shown(state)} is easily guessed`,
  )
}

/** Compares how the client authenticates with what the issuer wants. */
function methodOf(
  one: LoginVisit | undefined,
  wanted: 'none' | 'client_secret_basic' | 'client_secret_post',
): Verdict {
  const step = one?.login.all('token')[0]
  if (one === undefined || step === undefined)
    return unchecked(`no issuer with ${wanted} got a token request`)
  if (one.login.all('register').length === 0) return absent('the client does not register itself')
  const found = authenticationIn(step)
  return found === wanted
    ? passed
    : wrongStep(one, step, `the token request uses ${found}, and the issuer wants ${wanted}`)
}

function authenticationIn({ authorization, params }: LoginStep): string {
  if (/^Basic /i.test(authorization ?? '')) return 'client_secret_basic'
  if (params.has('client_assertion')) return 'private_key_jwt'
  return params.has('client_secret') ? 'client_secret_post' : 'none'
}
