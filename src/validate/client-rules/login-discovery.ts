import type { ClientSubject } from '../client-subject.ts'
import { metadataPlaces, RESOURCE_WELL_KNOWN, type LoginStep } from '../client/login-server.ts'
import { absent, D_TO_E, passed, unchecked, type Rule, type Transport, type Verdict } from '../rule.ts'
import { LOGIN_DEFAULTS, LOGIN_NAMED, LOGIN_WELL_KNOWN, NAMED_DOCUMENT, TENANT } from './login-scenarios.ts'
import { allOf, visitTo, whenLoggedIn, wrongStep, type LoginVisit } from './login-verdicts.ts'
import { broken } from './verdicts.ts'

const HTTP: readonly Transport[] = ['http']

/** Rules about how a client finds the authorization server, and becomes known to it. */
export const CLIENT_DISCOVERY_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R275',
    level: 'must',
    revisions: D_TO_E,
    transports: HTTP,
    rule: 'Clients read the metadata that WWW-Authenticate names; otherwise those under the path, then those at the root.',
    how: 'One server names its metadata in the header; another one has them at the root, and names none.',
    fix: `Look at resource_metadata first, then at ${RESOURCE_WELL_KNOWN}/<path>, then at ${RESOURCE_WELL_KNOWN}.`,
    check: (subject) =>
      whenLoggedIn(subject, () =>
        allOf(
          async () => inOrder(await visitTo(subject, LOGIN_NAMED), 'document', [NAMED_DOCUMENT]),
          async () =>
            inOrder(await visitTo(subject, LOGIN_WELL_KNOWN), 'document', [
              `${RESOURCE_WELL_KNOWN}/mcp`,
              RESOURCE_WELL_KNOWN,
            ]),
        ),
      ),
  },
  {
    id: 'R276',
    level: 'must',
    revisions: D_TO_E,
    transports: HTTP,
    rule: 'Clients look for the metadata of the issuer at all well-known addresses, in their order.',
    how: 'An issuer with a path has its metadata at the last address, and one without a path too.',
    fix: 'Try oauth-authorization-server and openid-configuration before the path of the issuer, then openid-configuration after it.',
    check: (subject) =>
      whenLoggedIn(subject, () =>
        allOf(
          async () => inOrder(await visitTo(subject, LOGIN_NAMED), 'metadata', metadataPlaces(TENANT)),
          async () => inOrder(await visitTo(subject, LOGIN_WELL_KNOWN), 'metadata', metadataPlaces('')),
        ),
      ),
  },
  {
    id: 'R277',
    level: 'must',
    revisions: ['2025-03-26'],
    transports: HTTP,
    rule: 'The metadata of the issuer are at the root of the server; without them its endpoints are /authorize, /token and /register.',
    how: 'One server has metadata with other endpoints, and another one has none.',
    fix: 'Ask for /.well-known/oauth-authorization-server at the host of the server; if there is none, use the default endpoints.',
    check: (subject) =>
      whenLoggedIn(subject, (usual) =>
        allOf(
          () => endpoints(usual, '/oauth/authorize'),
          async () => endpoints(await visitTo(subject, LOGIN_DEFAULTS), '/authorize'),
        ),
      ),
  },
  {
    id: 'R281',
    level: 'should',
    revisions: D_TO_E,
    transports: HTTP,
    rule: 'Where the issuer accepts client metadata documents, the client id is the URL of one; elsewhere the client registers itself.',
    how: 'One issuer accepts documents and registrations, and another one registrations only.',
    fix: 'Publish a client metadata document, and use its https URL as client_id where client_id_metadata_document_supported is true.',
    check: (subject) =>
      whenLoggedIn(subject, (usual) =>
        allOf(
          () => identities(usual, false),
          async () => identities(await visitTo(subject, LOGIN_WELL_KNOWN), true),
        ),
      ),
  },
]

/** Checks that the client asked for each of these places, and for the first time in their order. */
function inOrder(one: LoginVisit | undefined, what: LoginStep['what'], places: readonly string[]): Verdict {
  // Other places that a client tries say nothing about the order of these; but nothing comes before a document that has a name.
  const isAsked = ({ path }: LoginStep): boolean => what === 'document' || places.includes(path)
  const steps = one?.login.all(what).filter(isAsked) ?? []
  if (one === undefined || steps.length === 0)
    return unchecked(`the client asks for no metadata (scenario ${one?.visit.scenario ?? 'unknown'})`)
  let last = -1
  for (const place of places) {
    const index = steps.findIndex(({ path }) => path === place)
    const [first] = steps
    if (index === -1) return wrongStep(one, steps.at(-1) ?? { at: 0 }, `the client never asks for ${place}`)
    if (index < last)
      return wrongStep(one, steps[index] ?? { at: 0 }, `the client asks for ${place} too early`)
    if (last === -1 && index > 0 && first !== undefined)
      return wrongStep(one, first, `the client asks for ${first.path} before ${place}`)
    last = index
  }
  return passed
}

function endpoints(one: LoginVisit | undefined, path: string): Verdict {
  if (one === undefined) return unchecked('the client sends nothing')
  const steps = one.login.all('authorize')
  const [wrong] = steps.filter((step) => step.path !== path)
  if (wrong !== undefined)
    return wrongStep(one, wrong, `the client logs in at ${wrong.path}, and not at ${path}`)
  return steps.length > 0 ? passed : broken(one.visit, undefined, `the client does not log in at ${path}`)
}

/** Checks the client id of a login: documents are https URLs. */
function identities(one: LoginVisit | undefined, acceptsDocuments: boolean): Verdict {
  const [step] = one?.login.all('authorize') ?? []
  if (one === undefined || step === undefined) return unchecked('the client does not log in')
  const id = step.params.get('client_id') ?? ''
  if (id.startsWith('https://'))
    return acceptsDocuments
      ? passed
      : wrongStep(one, step, 'the client id is a URL, and the issuer does not accept such documents')
  if (!one.login.clients.has(id)) return absent('the client has a client id of its own')
  return acceptsDocuments
    ? wrongStep(one, step, 'the issuer accepts client metadata documents, and the client registers itself')
    : passed
}
