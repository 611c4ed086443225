import { readScopes } from '../../rpc/scopes.ts'
import type { AuthReply } from '../../transport/http/client/auth-method.ts'
import { readChallenges } from './www-authenticate.ts'

/** What a server asks for when it rejects a request. */
export interface Need {
  /** `token`: other credentials. `scopes`: more scopes. */
  readonly kind: 'token' | 'scopes'
  /** The status of the reply; undefined if the client itself found that its login lacks scopes. */
  readonly status: number | undefined
  /** The scopes that the server names; undefined if it names none. */
  readonly scopes: readonly string[] | undefined
  /** Where the server says that its metadata is. */
  readonly metadataUrl: string | undefined
  /** Whether the server takes only tokens that are bound to a key. */
  readonly wantsDpop: boolean
}

/** Reads what a reply asks for; undefined if other credentials would not help. */
export function readNeed({ status, headers }: AuthReply): Need | undefined {
  if (status !== 401 && status !== 403) return undefined
  const challenges = readChallenges(headers.get('www-authenticate'))
  const bearer = challenges.find(({ scheme }) => scheme === 'bearer')
  const dpop = challenges.find(({ scheme }) => scheme === 'dpop')
  // A server that takes both kinds of tokens may say the rest in only one of its challenges.
  const param = (name: string): string | undefined => bearer?.params.get(name) ?? dpop?.params.get(name)
  if (status === 403 && param('error') !== 'insufficient_scope') return undefined
  return {
    kind: status === 403 ? 'scopes' : 'token',
    status,
    scopes: scopesOf(param('scope')),
    metadataUrl: param('resource_metadata'),
    wantsDpop: bearer === undefined && dpop !== undefined,
  }
}

function scopesOf(text: string | undefined): readonly string[] | undefined {
  const scopes = text === undefined ? undefined : readScopes(text)
  return scopes === undefined || scopes.length === 0 ? undefined : scopes
}
