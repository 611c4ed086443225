import type { IncomingMessage, ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTHeaderParameters } from 'jose'
import { serve } from './serve.ts'

/** A key pair of a small issuer. */
export interface IssuerKey {
  readonly alg: string
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly jwk: JWK
}

/** An issuer that signs whatever a test wants, also tokens that no real issuer would create. */
export interface SmallIssuer {
  readonly url: string
  /** The keys that it publishes; tests may change them. */
  keys: readonly JWK[]
  /** Changes of its metadata. */
  metadata: Readonly<Record<string, unknown>>
  /** What it does in place of replying with a document, by path. */
  readonly instead: Map<string, (request: IncomingMessage, response: ServerResponse) => void>
  /** The paths of all requests so far. */
  readonly requests: string[]
  readonly key: IssuerKey
  /** Signs claims; those of a good token are the default. A claim that is undefined is left out. */
  sign(
    claims?: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
    key?: IssuerKey,
  ): Promise<string>
  close(): Promise<void>
}

/** The path of the keys. */
export const KEYS = '/keys'
export const METADATA = '/.well-known/oauth-authorization-server'

/** Creates a key pair. */
export async function createSigningKey(kid: string, alg: string = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), alg, kid, use: 'sig' } }
}

/** Starts a small issuer on loopback whose tokens are for `resource`. */
export async function startSmallIssuer(resource: string, path: string = ''): Promise<SmallIssuer> {
  const key = await createSigningKey('first')
  const requests: string[] = []
  const instead: SmallIssuer['instead'] = new Map()
  const { url: origin, close } = await serve((request, response) => {
    const target = request.url ?? ''
    requests.push(target)
    const other = instead.get(target)
    if (other !== undefined) return other(request, response)
    const document = documentAt(target)
    if (document === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  const documentAt = (target: string): object | undefined => {
    if (target === KEYS) return { keys: issuer.keys }
    const { url } = issuer
    return target === METADATA + path
      ? { issuer: url, jwks_uri: `${origin}${KEYS}`, ...issuer.metadata }
      : undefined
  }
  const issuer: SmallIssuer = {
    url: origin + path,
    keys: [key.jwk],
    metadata: {},
    instead,
    requests,
    key,
    close,
    sign: (claims = {}, header = {}, { alg, kid, privateKey } = key) =>
      new SignJWT({ ...goodClaims(issuer.url, resource), ...claims })
        .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header } as JWTHeaderParameters)
        .sign(privateKey),
  }
  return issuer
}

/** The claims of a token that is accepted. */
export function goodClaims(iss: string, aud: string): Readonly<Record<string, unknown>> {
  const now = Math.floor(Date.now() / 1000)
  return {
    iss,
    aud,
    sub: 'ada',
    client_id: 'robot',
    scope: 'notes:read',
    iat: now,
    exp: now + 300,
    jti: String(Math.random()),
  }
}
