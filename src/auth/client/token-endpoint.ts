import {
  ClientSecretPost,
  modifyAssertion,
  None,
  PrivateKeyJwt,
  type AuthorizationServer,
  type ClientAuth,
} from 'oauth4webapi'
import { clip } from '../../base/clip.ts'
import { basicCredentials } from '../basic.ts'
import { namesOf, type SigningKey } from './private-key.ts'
import { TokenError } from './token-error.ts'

/** A client as it presents itself to an issuer. */
export interface TokenClient {
  /** Undefined if the issuer recognises the client by what it sends, as with workloads. */
  readonly clientId: string | undefined
  readonly secret?: string | undefined
  readonly key?: SigningKey | undefined
  /** The method that the issuer chose when the client registered. Default: the metadata decides. */
  readonly authMethod?: string | undefined
}

/** How a client authenticates at a token endpoint. */
export interface Authentication {
  /** Its name in the metadata of issuers. */
  readonly method: string
  readonly authenticate: ClientAuth
}

interface Method {
  readonly name: string
  readonly needs?: 'secret' | 'key'
  create(client: TokenClient, issuer: AuthorizationServer): ClientAuth
}

/** The methods, the best one first. */
const METHODS: readonly Method[] = [
  { name: 'private_key_jwt', needs: 'key', create: ({ key }, issuer) => signing(key!, issuer) },
  { name: 'client_secret_basic', needs: 'secret', create: ({ secret }) => basic(secret!) },
  { name: 'client_secret_post', needs: 'secret', create: ({ secret }) => ClientSecretPost(secret!) },
  { name: 'none', create: ({ clientId }) => (clientId === undefined ? () => {} : None()) },
]

/**
 * Chooses how a client authenticates: as the issuer decided at registration, otherwise the best method that the metadata lists and
 * the client has credentials for.
 */
export function chooseAuthentication(
  issuer: AuthorizationServer,
  client: TokenClient,
  { isRequired = false }: { readonly isRequired?: boolean } = {},
): Authentication {
  const { authMethod } = client
  const possible = METHODS.filter(({ needs }) =>
    needs === undefined ? !isRequired : client[needs] !== undefined,
  )
  const listed = listOf(issuer.token_endpoint_auth_methods_supported)
  const isFit = ({ name }: Method): boolean => {
    if (authMethod !== undefined) return name === authMethod
    // Issuers often do not list `none`, although they accept clients that have no credentials.
    return listed === undefined || listed.includes(name) || (possible.length === 1 && name === 'none')
  }
  const method = possible.find(isFit)
  if (method === undefined) throw unfit(issuer, possible, authMethod === undefined ? listed! : [authMethod])
  return { method: method.name, authenticate: method.create(client, issuer) }
}

function unfit(
  { issuer }: AuthorizationServer,
  possible: readonly Method[],
  wanted: readonly string[],
): TokenError {
  const names = possible.map(({ name }) => name).join(', ')
  return new TokenError(
    `${issuer} accepts this client only with ${clip(wanted.join(', '), 200)}, but its credentials allow only ${names}; give it a secret or key that fits`,
  )
}

/** That of oauth4webapi encodes more characters than necessary, and some issuers do not decode them. */
function basic(secret: string): ClientAuth {
  return (_, { client_id: id }, __, headers) => headers.set('authorization', basicCredentials(id, secret))
}

function signing({ key, kid, algorithm }: SigningKey, issuer: AuthorizationServer): ClientAuth {
  const accepted = listOf(issuer.token_endpoint_auth_signing_alg_values_supported)
  const name = namesOf(algorithm).find((one) => accepted?.includes(one) ?? true)
  if (name === undefined)
    throw new TokenError(
      `${issuer.issuer} accepts keys for ${clip(accepted!.join(', '), 200)}, but the key of this client is for ${algorithm}; use another key or algorithm`,
    )
  return PrivateKeyJwt(kid === undefined ? { key } : { key, kid }, {
    [modifyAssertion]: (header) => {
      header['alg'] = name
    },
  })
}

/** The texts of a list that an issuer sent; undefined if it is none. */
export function listOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : undefined
}
