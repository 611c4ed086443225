import { LoginServer, loginOf, RESOURCE_WELL_KNOWN, type LoginPlan } from '../client/login-server.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Visit } from '../client/visit.ts'
import { B_TO_E, C_TO_E, D_TO_E, E_ONLY, type Transport } from '../rule.ts'
import type { Revision } from '../../protocol/revisions.ts'
import { parseUrl } from '../../protocol/url.ts'

const HTTP: readonly Transport[] = ['http']
const B_ONLY: readonly Revision[] = ['2025-03-26']

/** The scopes of the scenarios. */
export const READ = 'notes:read'
export const WRITE = 'notes:write'
/** Where the metadata of the server are if only the challenge says so. */
export const NAMED_DOCUMENT = '/about/resource.json'
/** The path of an issuer that has one. */
export const TENANT = '/tenant'

interface About extends Pick<Scenario, 'name' | 'does' | 'revisions' | 'official'> {
  plan(visit: Visit): LoginPlan
}

/** A protected server with one tool. The rules about messages leave it out, because clients repeat refused requests. */
function protectedServer({ plan, ...about }: About): Scenario {
  return {
    ...about,
    transports: HTTP,
    isApart: true,
    begin() {
      let login: LoginServer | undefined
      const loginIn = (visit: Visit): LoginServer => {
        // The server has no other questions, and is its own issuer at 2025-03-26.
        visit.notes.set('knocked', true)
        return (login ??= new LoginServer({ isOwn: visit.revision === '2025-03-26', ...plan(visit) }, visit))
      }
      return {
        hasSite: true,
        http: (exchange) => loginIn(exchange.visit).onServer(exchange),
        site: (exchange) => loginIn(exchange.visit).onIssuer(exchange),
        offer: () => ({
          capabilities: { tools: {} },
          // The official conformance suite has this tool in its scenarios of authorization.
          tools: [{ name: 'test-tool', inputSchema: { type: 'object', properties: {} } }],
          resources: [],
          prompts: [],
        }),
      }
    },
  }
}

/** What a visit showed of logging in; undefined if the client sent nothing at all. */
export function loginIn(visit: Visit): LoginServer | undefined {
  return visit.seen.length === 0 ? undefined : loginOf(visit)
}

const ISS_SUPPORTED = 'authorization_response_iss_parameter_supported'

export const LOGIN: Scenario = protectedServer({
  name: 'login',
  does: 'needs a token, and lets every client log in without a person',
  revisions: B_TO_E,
  official: 'auth/metadata-default',
  plan: ({ isModern }) =>
    isModern
      ? {
          metadata: (usual) => ({ ...usual, [ISS_SUPPORTED]: true }),
          redirect: (answer, issuer) => answer.set('iss', issuer),
        }
      : {},
})

export const LOGIN_NAMED: Scenario = protectedServer({
  name: 'login-named-metadata',
  does: 'has its metadata where only WWW-Authenticate says, and an issuer with a path',
  revisions: C_TO_E,
  official: 'auth/scope-from-www-authenticate',
  plan: ({ revision }) => ({
    named: NAMED_DOCUMENT,
    documents: [NAMED_DOCUMENT],
    scope: READ,
    document: (usual) => ({ ...usual, scopes_supported: [READ, WRITE] }),
    path: TENANT,
    place: revision === '2025-06-18' ? 0 : 2,
    secret: 'client_secret_basic',
    metadata: (usual) => ({ ...usual, scopes_supported: [READ, WRITE, 'offline_access'] }),
  }),
})

export const LOGIN_WELL_KNOWN: Scenario = protectedServer({
  name: 'login-well-known-metadata',
  does: 'has its metadata at the root only, and an issuer that accepts client metadata documents',
  revisions: D_TO_E,
  official: 'auth/basic-cimd',
  plan: ({ url }) => ({
    named: false,
    documents: [RESOURCE_WELL_KNOWN],
    document: (usual) => ({ ...usual, resource: parseUrl(url).origin, scopes_supported: [READ, WRITE] }),
    place: 1,
    metadata: (usual) => ({
      ...usual,
      scopes_supported: [READ, WRITE],
      client_id_metadata_document_supported: true,
    }),
  }),
})

export const LOGIN_DEFAULTS: Scenario = protectedServer({
  name: 'login-default-endpoints',
  does: 'has no metadata, and its endpoints are /authorize, /token and /register',
  revisions: B_ONLY,
  official: 'auth/2025-03-26-oauth-endpoint-fallback',
  plan: () => ({ place: -1 }),
})

export const LOGIN_OTHER_RESOURCE: Scenario = protectedServer({
  name: 'login-other-resource',
  does: 'has the metadata of another server',
  revisions: C_TO_E,
  official: 'auth/resource-mismatch',
  plan: () => ({ document: (usual) => ({ ...usual, resource: 'https://other.invalid/mcp' }) }),
})

export const LOGIN_WITHOUT_PKCE: Scenario = protectedServer({
  name: 'login-without-pkce',
  does: 'has an issuer whose metadata do not name S256',
  revisions: D_TO_E,
  official: 'auth/metadata-default',
  plan: () => ({
    metadata: ({ code_challenge_methods_supported: _, ...usual }) => usual,
  }),
})

export const LOGIN_STEP_UP: Scenario = protectedServer({
  name: 'login-step-up',
  does: 'wants a further scope for calls of tools',
  revisions: C_TO_E,
  official: 'auth/scope-step-up',
  plan: ({ revision }) => ({
    scope: READ,
    secret: 'client_secret_post',
    ...(revision !== '2025-06-18' && { callScope: WRITE }),
  }),
})

export const LOGIN_ENDLESS: Scenario = protectedServer({
  name: 'login-endless-step-up',
  does: 'wants a further scope for calls of tools, and no token is enough',
  revisions: D_TO_E,
  official: 'auth/scope-retry-limit',
  plan: () => ({ scope: READ, callScope: WRITE, isNever: true }),
})

export const LOGIN_WRONG_STATE: Scenario = protectedServer({
  name: 'login-wrong-state',
  does: 'sends the browser back with another state',
  revisions: B_TO_E,
  official: 'auth/metadata-default',
  plan: () => ({ redirect: (answer) => answer.set('state', 'state-of-another-login') }),
})

export const LOGIN_MISSING_ISSUER: Scenario = protectedServer({
  name: 'login-missing-issuer',
  does: 'has an issuer that promises iss, and sends the browser back without it',
  revisions: E_ONLY,
  official: 'auth/iss-supported-missing',
  plan: () => ({ metadata: (usual) => ({ ...usual, [ISS_SUPPORTED]: true }) }),
})

export const LOGIN_OTHER_ISSUER: Scenario = protectedServer({
  name: 'login-other-issuer',
  does: 'sends the browser back with an iss that differs from the issuer in a slash',
  revisions: E_ONLY,
  official: 'auth/iss-normalized',
  plan: () => ({ redirect: (answer, issuer) => answer.set('iss', `${issuer}/`) }),
})

export const LOGIN_OTHER_METADATA: Scenario = protectedServer({
  name: 'login-other-metadata',
  does: 'has an issuer whose metadata name another issuer',
  revisions: E_ONLY,
  official: 'auth/metadata-issuer-mismatch',
  plan: () => ({ metadata: (usual) => ({ ...usual, issuer: 'https://other.invalid' }) }),
})

export const LOGIN_MOVED: Scenario = protectedServer({
  name: 'login-moved',
  does: 'changes its issuer before the first call of a tool',
  revisions: E_ONLY,
  official: 'auth/authorization-server-migration',
  plan: () => ({ path: '/first', movesTo: '/second' }),
})

export const LOGIN_REDIRECT: Scenario = protectedServer({
  name: 'login-redirect',
  does: 'sends requests for tools to another origin',
  revisions: B_TO_E,
  official: 'auth/metadata-default',
  plan: () => ({ redirects: true }),
})
