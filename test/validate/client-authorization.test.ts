import { expect, test } from 'vitest'
import { CLIENT_AUTHORIZATION_RULES } from '../../src/validate/client-rules/authorization.ts'
import type { ClientFault } from './client-fault.ts'
import { clientOutcomes, proveClient } from './prove-client.ts'
import { rawClient } from './raw-client.ts'

const B_TO_C = ['2025-03-26', '2025-06-18'] as const
const C_TO_E = ['2025-06-18', '2025-11-25', '2026-07-28'] as const
const D_TO_E = ['2025-11-25', '2026-07-28'] as const
const E_ONLY = ['2026-07-28'] as const

const FAULTS: readonly ClientFault[] = [
  {
    rule: 'R271',
    does: 'lists tools without the token',
    headers({ authorization, ...headers }, _method, message) {
      const isLeftOut = authorization === undefined || message?.['method'] === 'tools/list'
      return isLeftOut ? headers : { ...headers, authorization }
    },
  },
  {
    rule: 'R271',
    does: 'never sends the token',
    headers: ({ authorization: _, ...headers }) => headers,
  },
  {
    rule: 'R271',
    does: 'deletes its session without the token',
    revisions: ['2025-03-26', '2025-06-18', '2025-11-25'],
    headers: ({ authorization = '', ...headers }, method) =>
      method === 'DELETE' || authorization === '' ? headers : { ...headers, authorization },
  },
  { rule: 'R271', does: 'has the token in the URL', login: 'has the token in the URL' },
  {
    rule: 'R271',
    does: 'sends the token to the issuer',
    login: 'sends the token to the issuer',
    revisions: C_TO_E,
  },
  {
    rule: 'R271',
    does: 'follows redirects to others with the token',
    login: 'follows redirects with the token',
  },
  { rule: 'R275', does: 'ignores the header', login: 'ignores the header' },
  { rule: 'R275', does: 'asks for the metadata at the root first', login: 'asks the root first' },
  { rule: 'R276', does: 'knows the metadata of OAuth only', login: 'knows OAuth metadata only' },
  { rule: 'R276', does: 'asks for the metadata of OpenID first', login: 'asks for OpenID first' },
  { rule: 'R277', does: 'knows no default endpoints', login: 'needs metadata' },
  { rule: 'R277', does: 'knows the default endpoints only', login: 'ignores metadata' },
  { rule: 'R278', does: 'leaves resource out', login: 'leaves resource out' },
  {
    rule: 'R278',
    does: 'leaves resource out of the token request',
    login: 'leaves resource out of the token request',
  },
  { rule: 'R278', does: 'accepts the metadata of another server', login: 'accepts any resource' },
  { rule: 'R280', does: 'has no PKCE', login: 'has no PKCE' },
  { rule: 'R280', does: 'sends another verifier', login: 'has another verifier' },
  { rule: 'R280', does: 'uses the method plain', login: 'has plain PKCE', revisions: D_TO_E },
  { rule: 'R280', does: 'trusts issuers without PKCE', login: 'needs no PKCE', revisions: D_TO_E },
  { rule: 'R281', does: 'always registers itself', login: 'always registers' },
  { rule: 'R281', does: 'always uses its document', login: 'always has a document' },
  { rule: 'R282', does: 'asks for all scopes', login: 'asks for all scopes' },
  { rule: 'R282', does: 'asks for no scopes', login: 'asks for no scopes' },
  { rule: 'R283', does: 'never steps up', login: 'never steps up' },
  { rule: 'R283', does: 'asks for the same scopes again', login: 'repeats its scopes' },
  { rule: 'R283', does: 'steps up for ever', login: 'steps up for ever' },
  { rule: 'R283', does: 'gives up the scopes that it had', login: 'gives up scopes', revisions: E_ONLY },
  { rule: 'R284', does: 'ignores iss', login: 'ignores iss' },
  { rule: 'R284', does: 'needs no iss', login: 'needs no iss' },
  { rule: 'R284', does: 'refuses iss', login: 'refuses iss' },
  { rule: 'R284', does: 'ignores the issuer of metadata', login: 'ignores the issuer of metadata' },
  { rule: 'R285', does: 'has one client id for all issuers', login: 'has one client id for all' },
  { rule: 'R286', does: 'has no application type', login: 'has no application type' },
  { rule: 'R287', does: 'always asks for offline_access', login: 'always asks for offline_access' },
  { rule: 'R288', does: 'has no state', login: 'has no state' },
  { rule: 'R288', does: 'ignores the state', login: 'ignores the state' },
  { rule: 'R290', does: 'sends secrets in the body only', login: 'has secrets in the body only' },
  { rule: 'R290', does: 'never sends secrets', login: 'never sends secrets' },
]

const VARIANTS: readonly ClientFault[] = [
  { rule: 'R280', does: 'uses the method plain where it may', login: 'has plain PKCE', revisions: B_TO_C },
]

proveClient('authorization of clients', CLIENT_AUTHORIZATION_RULES, FAULTS, VARIANTS)

test('a client that does not log in is not checked, and the report says how it should', async () => {
  const client = rawClient({ rule: '', does: 'never logs in', login: 'never logs in' })
  const place = { revision: '2026-07-28', transport: 'http' } as const
  const outcomes = await clientOutcomes(client, CLIENT_AUTHORIZATION_RULES, place)
  expect(outcomes.length).toBeGreaterThan(10)
  for (const { is, found } of outcomes) {
    expect(is).toBe('unchecked')
    expect(found).toContain('request the URL of the login page')
  }
})
