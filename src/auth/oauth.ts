import { anything, FLAG, oneOf, required, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import { isObject } from '../protocol/jsonrpc.ts'
import type { AuthMethod, Verdict } from '../transport/http/server/auth-method.ts'
import { createDiscovery } from './discovery.ts'
import { fetchObject } from './issuer-fetch.ts'
import { ALGORITHMS, explainForeign, verifyJwt, type Algorithm, type JwtRules } from './jwt.ts'
import { createKeys, FRESH_MS, type Keys } from './keys.ts'
import { createMethod } from './method.ts'
import {
  AUDIENCE,
  readTokenOptions,
  someOf,
  TOKEN_OPTIONS,
  toList,
  type TokenOptions,
  type TokenSettings,
} from './token-options.ts'
import { ENDPOINT, ISSUER } from './urls.ts'

/** An issuer of tokens that needs options of its own. */
export interface OAuthIssuer {
  /** The URL of the issuer, exactly as in `iss` of its tokens. */
  readonly issuer: string
  /** The URL of its keys (JWKS). Default: from its metadata, which is discovered. */
  readonly keys?: string | undefined
  /** The values that `aud` of its tokens must contain one of. Default: `audience` of the method. */
  readonly audience?: string | readonly string[] | undefined
}

/** Options of `oauth`. */
export interface OAuthOptions extends TokenOptions {
  /**
   * The URL of the authorization server, exactly as in `iss` of its tokens; or several. Its keys are found through its metadata
   * (RFC 8414 or OpenID Connect Discovery) when the first token arrives.
   */
  readonly issuer: string | OAuthIssuer | readonly (string | OAuthIssuer)[]
  /** The accepted algorithms. Default: all with a public key, such as `ES256` and `RS256`. */
  readonly algorithms?: readonly Algorithm[] | undefined
  /**
   * Whether the header of tokens must say that they are access tokens (`typ: at+jwt`, RFC 9068). Default: `false`, because many
   * issuers say `JWT` or nothing; other types, and tokens that are recognisably ID tokens, are always rejected.
   */
  readonly strictType?: boolean | undefined
}

const OAUTH_OPTIONS: KindsOf<OAuthOptions> = {
  ...TOKEN_OPTIONS,
  issuer: required(anything(), `issuer is missing; it must be ${ISSUER.must}`),
  algorithms: someOf(oneOf(...ALGORITHMS)),
  strictType: FLAG,
}

const ISSUER_OPTIONS: KindsOf<OAuthIssuer> = {
  issuer: required(ISSUER),
  keys: ENDPOINT,
  audience: AUDIENCE,
}

/**
 * Accepts access tokens that are JSON Web Tokens of an OAuth authorization server. Signature, issuer, audience and time of each
 * are verified; nothing but the configured issuers is contacted.
 * @example
 * const auth = oauth({ issuer: 'https://id.example', resource: 'https://mcp.example/mcp', scopes: ['mcp:use'] })
 * const app = createServer({ name: 'notes', version: '1.0.0', auth })
 */
export function oauth(options: OAuthOptions): AuthMethod {
  checkOptions<OAuthOptions>('oauth', options, OAUTH_OPTIONS)
  const settings = readTokenOptions('oauth', options)
  const issuers = readIssuers(options.issuer).map((one) => ({ ...one, found: keysOf(one) }))
  const names = issuers.map(({ issuer }) => issuer)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw badOption('oauth', `issuer has ${twice} twice`)
  const create = ({ audience: usual, skewMs, bind, parts, at }: TokenSettings): AuthMethod => {
    const rules = new Map<string, JwtRules>()
    for (const { issuer, found, audience } of issuers)
      rules.set(issuer, {
        issuer,
        keys: found,
        audience: audience === undefined ? usual : toList(audience),
        algorithms: options.algorithms ?? ALGORITHMS,
        strictType: options.strictType ?? false,
        skewMs,
        bind,
      })
    return createMethod({
      name: 'oauth',
      issuers: names,
      verify: async (token) => withRecheck(await verifyJwt(token, (issuer) => rules.get(issuer))),
      explain: (token, isOnly) => explainForeign(token, names, isOnly),
      at: (url) => create(at(url)),
      ...parts,
    })
  }
  return create(settings)
}

/** Accepted tokens are verified again, since the issuer may have withdrawn the key that signed them. */
function withRecheck(verdict: Verdict | undefined): Verdict | undefined {
  if (verdict === undefined || 'rejected' in verdict) return verdict
  return { ...verdict, recheckAt: Date.now() + FRESH_MS }
}

function readIssuers(given: OAuthOptions['issuer']): readonly OAuthIssuer[] {
  const list = toList<string | OAuthIssuer>(given)
  if (list.length === 0) throw badOption('oauth', 'issuer is an empty list; name at least one issuer')
  return list.map((one) => {
    const issuer = isObject(one) && !(one instanceof URL) ? (one as OAuthIssuer) : { issuer: one as string }
    checkOptions<OAuthIssuer>('oauth issuer', issuer, ISSUER_OPTIONS)
    return issuer
  })
}

function keysOf({ issuer, keys }: OAuthIssuer): Keys {
  if (keys !== undefined) return createKeys(() => fetchObject(keys))
  const discovery = createDiscovery(issuer)
  return createKeys(async () => {
    try {
      return await fetchObject(await discovery.urlOf('jwks_uri'))
    } catch (thrown) {
      discovery.noteFailure(thrown)
      throw thrown
    }
  })
}
