import { createHmac } from 'node:crypto'
import { exportSPKI } from 'jose'
import { createSigningKey, goodClaims, type IssuerKey, type SmallIssuer } from './small-issuer.ts'

/** Everything that hostile tokens are made of. */
export interface Workshop {
  readonly issuer: SmallIssuer
  readonly resource: string
  /** A key that the issuer publishes, for RSA. */
  readonly rsa: IssuerKey
  /** A key of the attacker. */
  readonly foreign: IssuerKey
  /** A server of the attacker, which counts requests. */
  readonly trap: string
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** A token that must be rejected. */
export interface HostileToken {
  readonly id: string
  readonly what: string
  create(parts: Workshop): string | Promise<string>
}

/** The difference of a clock that is five minutes wrong. */
const FIVE_MINUTES = 300

function token(id: string, what: string, create: HostileToken['create']): HostileToken {
  return { id, what, create }
}

/** A token of the issuer with other claims than those of a good token. */
function claims(
  id: string,
  what: string,
  change: (parts: Workshop) => Readonly<Record<string, unknown>>,
): HostileToken {
  return token(id, what, (parts) => parts.issuer.sign(change(parts)))
}

/** A token of the issuer whose payload is this text. */
function payload(id: string, what: string, text: (parts: Workshop) => string): HostileToken {
  return token(id, what, async (parts) => signText(text(parts), parts.issuer.key))
}

export const HOSTILE_TOKENS: readonly HostileToken[] = [
  token('A.garbage', 'a text that is not a token', () => 'garbage'),
  token('A.garbage-parts', 'three parts that are not JSON', () => 'a.b.c'),
  token('A.parts-two', 'a token without the third part', async ({ issuer }) =>
    (await issuer.sign()).split('.').slice(0, 2).join('.'),
  ),
  token(
    'A.parts-five',
    'an encrypted token in five parts',
    async ({ issuer }) => `${await issuer.sign()}.e30.e30`,
  ),
  ...['none', 'None', 'NONE'].map((alg, at) =>
    token(`A.alg-none${['', '-title', '-upper'][at]}`, `alg ${alg} without a signature`, (parts) =>
      unsigned({ alg, typ: 'at+jwt', kid: parts.issuer.key.kid }, goodPayload(parts)),
    ),
  ),
  token('A.alg-none-signed', 'alg none with the signature of a good token', async (parts) => {
    const [, , signature] = (await parts.issuer.sign()).split('.')
    return unsigned({ alg: 'none' }, goodPayload(parts)) + String(signature)
  }),
  token('A.alg-missing', 'no alg at all', (parts) => unsigned({ typ: 'at+jwt' }, goodPayload(parts))),
  token('A.alg-list', 'alg as a list', (parts) => unsigned({ alg: ['ES256'] }, goodPayload(parts))),
  token('A.hs-rs', 'HS256 with the public RSA key in PEM form as its secret', async (parts) =>
    hmac(parts, await exportSPKI(parts.rsa.publicKey), parts.rsa.kid),
  ),
  token('A.hs-jwk', 'HS256 with the published JWK as its secret', (parts) =>
    hmac(parts, JSON.stringify(parts.rsa.jwk), parts.rsa.kid),
  ),
  token('A.hs-empty', 'HS256 with an empty secret', (parts) => hmac(parts, '', parts.issuer.key.kid)),
  token('A.hs-no-kid', 'HS256 without a key id', (parts) => hmac(parts, '', undefined)),
  token('A.key-wrong', 'the key of an attacker under the id of a good key', ({ issuer, foreign }) =>
    issuer.sign({}, { kid: issuer.key.kid }, foreign),
  ),
  token('A.alg-other', 'another algorithm than that of the key', ({ issuer, rsa }) =>
    issuer.sign({}, { kid: issuer.key.kid }, rsa),
  ),
  token('A.signature-stripped', 'an empty signature', async ({ issuer }) =>
    (await issuer.sign()).replace(/[^.]*$/, ''),
  ),
  token('A.signature-flipped', 'a signature with one other bit', async ({ issuer }) =>
    flip(await issuer.sign(), 2),
  ),
  token('A.signature-bits', 'a signature whose last character has other unused bits', async ({ issuer }) =>
    (await issuer.sign()).replace(/.$/, (last) => BASE64URL[BASE64URL.indexOf(last) + 1] as string),
  ),
  token('A.signature-zero', 'a signature of zeros', async ({ issuer }) =>
    (await issuer.sign()).replace(/[^.]*$/, Buffer.alloc(64).toString('base64url')),
  ),
  token('A.payload-swapped', 'the payload of another token', async ({ issuer }) => {
    const [[head, , signature], [, body]] = [await issuer.sign(), await issuer.sign({ sub: 'root' })].map(
      (one) => one.split('.'),
    ) as [string[], string[]]
    return [head, body, signature].join('.')
  }),
  token('A.header-swapped', 'a header that was changed after signing', async ({ issuer }) => {
    const [, ...rest] = (await issuer.sign()).split('.')
    return [encode(JSON.stringify({ alg: 'ES256', kid: issuer.key.kid })), ...rest].join('.')
  }),
  ...(
    [
      ['A.kid-unknown', 'an unknown key id', 'nobody'],
      ['A.kid-path', 'a key id that is a path', '../../../../dev/null'],
      ['A.kid-sql', 'a key id that is SQL', `' UNION SELECT 'secret' --`],
      ['A.kid-proto', 'a key id called __proto__', '__proto__'],
      ['A.kid-long', 'a very long key id', 'k'.repeat(4000)],
      ['A.kid-empty', 'an empty key id', ''],
    ] as const
  ).map(([id, what, kid]) => token(id, what, ({ issuer, foreign }) => issuer.sign({}, { kid }, foreign))),
  token(
    'A.kid-none',
    'no key id, while the issuer has several keys for the algorithm',
    ({ issuer, foreign }) => issuer.sign({}, { kid: undefined }, foreign),
  ),
  token('A.jwk', 'its own key in the header', ({ issuer, foreign }) =>
    issuer.sign({}, { jwk: foreign.jwk, kid: issuer.key.kid }, foreign),
  ),
  token('A.jku', 'the URL of its key in the header', ({ issuer, foreign, trap }) =>
    issuer.sign({}, { jku: `${trap}/keys`, kid: issuer.key.kid }, foreign),
  ),
  token('A.x5u', 'the URL of its certificate in the header', ({ issuer, foreign, trap }) =>
    issuer.sign({}, { x5u: `${trap}/certificate`, kid: issuer.key.kid }, foreign),
  ),
  token('A.x5c', 'its certificate in the header', ({ issuer, foreign }) =>
    issuer.sign({}, { x5c: ['MIIB'], kid: issuer.key.kid }, foreign),
  ),
  token('A.crit', 'a critical extension that is not known', async (parts) =>
    signText(goodPayload(parts), parts.issuer.key, { crit: ['exp-strict'], 'exp-strict': true }),
  ),
  token('A.crit-b64', 'a payload that is not encoded', async (parts) =>
    signText(goodPayload(parts), parts.issuer.key, { crit: ['b64'], b64: false }),
  ),
  token('A.typ-logout', 'a logout token', ({ issuer }) => issuer.sign({}, { typ: 'logout+jwt' })),
  token('A.typ-dpop', 'a proof in place of a token', ({ issuer }) => issuer.sign({}, { typ: 'dpop+jwt' })),
  token('A.typ-odd', 'a type that is not a text', ({ issuer }) => issuer.sign({}, { typ: 7 })),
  ...(
    [
      ['A.id-type', 'an ID token by its type', {}, 'id+jwt'],
      ['A.id-nonce', 'an ID token with the nonce of a login', { nonce: 'n-0S6' }, 'JWT'],
      ['A.id-at-hash', 'an ID token with the digest of an access token', { at_hash: 'x' }, undefined],
      ['A.id-c-hash', 'an ID token with the digest of a code', { c_hash: 'x' }, undefined],
      ['A.id-keycloak', 'an ID token of Keycloak', { typ: 'ID' }, 'JWT'],
    ] as const
  ).map(([id, what, more, typ]) => token(id, what, ({ issuer }) => issuer.sign(more, { typ }))),
  token('A.id-client', 'an ID token that is for its own client', ({ issuer, resource }) =>
    issuer.sign({ aud: resource, azp: resource, client_id: undefined, scope: undefined }, { typ: 'JWT' }),
  ),

  claims('A.aud-missing', 'no audience', () => ({ aud: undefined })),
  claims('A.aud-other', 'the audience of another server', () => ({ aud: 'https://other.example/mcp' })),
  claims('A.aud-prefix', 'an audience that ours begins with', ({ resource }) => ({
    aud: new URL(resource).origin,
  })),
  claims('A.aud-slash', 'an audience with one more slash', ({ resource }) => ({ aud: `${resource}/` })),
  claims('A.aud-case', 'an audience in upper case', ({ resource }) => ({ aud: resource.toUpperCase() })),
  claims('A.aud-list', 'a list of other audiences', ({ resource }) => ({
    aud: ['https://a.example', `${resource}2`],
  })),
  claims('A.aud-nested', 'an audience in a list in a list', ({ resource }) => ({ aud: [[resource]] })),
  claims('A.aud-object', 'an audience that is an object', ({ resource }) => ({ aud: { [resource]: true } })),
  claims('A.iss-missing', 'no issuer', () => ({ iss: undefined })),
  claims('A.iss-other', 'another issuer', () => ({ iss: 'https://evil.example' })),
  claims('A.iss-slash', 'the issuer with one more slash', ({ issuer }) => ({ iss: `${issuer.url}/` })),
  claims('A.iss-list', 'the issuer in a list', ({ issuer }) => ({ iss: [issuer.url] })),
  claims('A.iss-trap', 'an issuer at a URL of the attacker', ({ trap }) => ({ iss: trap })),
  claims('A.expired', 'a token that expired', () => ({ exp: seconds(-FIVE_MINUTES) })),
  claims('A.exp-missing', 'no time of expiry', () => ({ exp: undefined })),
  claims('A.exp-text', 'a time of expiry that is text', () => ({ exp: '99999999999' })),
  claims('A.exp-null', 'a time of expiry that is null', () => ({ exp: null })),
  claims('A.exp-milliseconds', 'a time of expiry in milliseconds', () => ({ exp: Date.now() + 60_000 })),
  claims('A.exp-negative', 'a negative time of expiry', () => ({ exp: -1 })),
  payload('A.exp-infinite', 'a time of expiry beyond all numbers', (parts) =>
    goodPayload(parts).replace(/"exp":\d+/, '"exp":1e999'),
  ),
  claims('A.not-yet', 'a token that is not valid yet', () => ({ nbf: seconds(FIVE_MINUTES) })),
  claims('A.nbf-text', 'a start that is text', () => ({ nbf: '0' })),
  claims('A.iat-future', 'a token of the future', () => ({ iat: seconds(FIVE_MINUTES) })),
  claims('A.iat-odd', 'a time of issue that is not a number', () => ({ iat: {} })),
  claims('A.clock-ahead', 'a token of an issuer whose clock is five minutes ahead', () => ({
    iat: seconds(FIVE_MINUTES),
    nbf: seconds(FIVE_MINUTES),
    exp: seconds(2 * FIVE_MINUTES),
  })),
  claims('A.clock-behind', 'a short token of an issuer whose clock is five minutes behind', () => ({
    iat: seconds(-FIVE_MINUTES),
    exp: seconds(60 - FIVE_MINUTES),
  })),
  claims('A.sub-missing', 'neither a subject nor a client', () => ({ sub: undefined, client_id: undefined })),
  claims('A.sub-number', 'a subject that is a number', () => ({ sub: 7 })),
  claims('A.sub-empty', 'an empty subject', () => ({ sub: '' })),
  claims('A.scope-odd', 'scopes that are an object', () => ({ scope: { admin: true } })),
  claims('A.cnf-odd', 'a binding that is not an object', () => ({ cnf: 7 })),
  claims('A.cnf-unknown', 'a binding that is not known', () => ({ cnf: { kid: 'x' } })),
  payload('A.payload-list', 'a payload that is a list', () => '[]'),
  payload('A.payload-text', 'a payload that is a text', () => '"token"'),
  payload('A.payload-null', 'a payload that is null', () => 'null'),
  payload('A.payload-truncated', 'a payload that breaks off', (parts) => goodPayload(parts).slice(0, -1)),
  payload('A.payload-proto', 'claims inside __proto__', (parts) => `{"__proto__":${goodPayload(parts)}}`),
  payload('A.payload-deep', 'a deeply nested payload', () => `${'['.repeat(4000)}${']'.repeat(4000)}`),
  payload('A.payload-utf8', 'a payload that is not UTF-8', (parts) => `${goodPayload(parts)}\u00ff`),
]

/** Now, in seconds, and a number of seconds later. */
export function seconds(later: number): number {
  return Math.floor(Date.now() / 1000) + later
}

/** The keys that the issuer must publish: two for the same algorithm, and one for RSA. */
export async function openWorkshop(issuer: SmallIssuer, resource: string, trap: string): Promise<Workshop> {
  const [rsa, foreign, second] = await Promise.all([
    createSigningKey('rsa', 'RS256'),
    createSigningKey('foreign'),
    createSigningKey('second'),
  ])
  issuer.keys = [issuer.key.jwk, second.jwk, rsa.jwk]
  return { issuer, resource, rsa, foreign, trap }
}

function goodPayload({ issuer, resource }: Workshop): string {
  return JSON.stringify(goodClaims(issuer.url, resource))
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function unsigned(header: object, text: string): string {
  return `${encode(JSON.stringify(header))}.${encode(text)}.`
}

function hmac(parts: Workshop, secret: string, kid: string | undefined): string {
  const start = unsigned({ alg: 'HS256', typ: 'at+jwt', kid }, goodPayload(parts)).slice(0, -1)
  return `${start}.${createHmac('sha256', secret).update(start).digest('base64url')}`
}

function flip(text: string, part: number): string {
  const parts = text.split('.')
  const bytes = Buffer.from(parts[part] ?? '', 'base64url')
  bytes[0] = (bytes[0] ?? 0) ^ 1
  return parts.map((one, at) => (at === part ? bytes.toString('base64url') : one)).join('.')
}

/** Signs any text, in latin1 so that it need not be UTF-8. */
async function signText(text: string, { privateKey, kid }: IssuerKey, header: object = {}): Promise<string> {
  const bytes = Buffer.from(text, 'latin1').toString('base64url')
  const start = `${encode(JSON.stringify({ alg: 'ES256', kid, typ: 'at+jwt', ...header }))}.${bytes}`
  const signature = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    privateKey,
    Buffer.from(start),
  )
  return `${start}.${Buffer.from(signature).toString('base64url')}`
}
