import { mcpError } from '../errors/error.ts'
import { INSUFFICIENT_SCOPE } from '../errors/server.ts'
import { networkOf } from '../base/address.ts'
import type {
  Accepted,
  Authentication,
  AuthHost,
  AuthMethod,
  Presented,
  Rejected,
} from '../transport/http/server/auth-method.ts'
import type { Caller } from '../transport/http/server/authenticate.ts'
import type { Headers, HttpHead } from '../transport/http/server/parts.ts'
import { Challenges } from './challenge.ts'
import { explainMissing, readCredentials, type Credentials } from './credentials.ts'
import { createMetadata, describedMethods, type Metadata } from './metadata.ts'
import { createRejectionLog, type RejectionLog } from './rejections.ts'
import { REVOKED, TokenVerifier, type Known } from './verifier.ts'
import { parseUrl } from '../protocol/url.ts'

const NOT_BOUND: Rejected = {
  rejected: 'invalid',
  why: 'it is not bound to a key; send it as a bearer token',
}

/** Opens the methods of one listener or mount. */
export function openAuthentication(methods: readonly AuthMethod[], host: AuthHost): Authentication {
  return new TokenAuthentication(methods, host)
}

class TokenAuthentication implements Authentication {
  readonly authenticate = (head: HttpHead): Caller | Promise<Caller> =>
    this.#for(head.target).#authenticate(head)
  readonly #methods: readonly AuthMethod[]
  readonly #host: AuthHost
  #resource: string | undefined
  #metadata: Metadata | undefined
  #challenges: Challenges
  readonly #verifier: TokenVerifier
  readonly #firstNonce: () => string | Promise<string> | undefined
  readonly #report: RejectionLog
  /** Other URLs of the server, each with its own metadata and audience. */
  readonly #others: {
    readonly paths: { has(path: string): boolean }
    readonly authentication: TokenAuthentication
  }[] = []

  constructor(methods: readonly AuthMethod[], host: AuthHost) {
    this.#methods = methods
    this.#host = host
    this.#challenges = this.#describe()
    this.#verifier = new TokenVerifier(methods, host)
    const withNonce = methods.find(({ nonce }) => nonce !== undefined)
    this.#firstNonce = () => withNonce?.nonce?.()
    this.#report = createRejectionLog(host)
  }

  listening(url: string): void {
    for (const method of this.#methods) method.listening?.(url)
    this.#challenges = this.#describe()
  }

  addPath(path: string, paths: { has(path: string): boolean }): void {
    const known = this.#others.find(({ authentication }) => authentication.#host.path === path)
    const authentication = known?.authentication ?? this.#at(path)
    if (authentication !== undefined) this.#others.push({ paths, authentication })
  }

  /** The same methods for another path of the listener; undefined if they have no audience of its own for it. */
  #at(path: string): TokenAuthentication | undefined {
    const url = this.#resource && siblingOf(this.#resource, this.#host.path, path)
    if (url === undefined) return undefined
    const methods = this.#methods.map((method) => method.at?.(url) ?? method)
    if (methods.some(({ resource }) => resource !== undefined && resource !== url)) return undefined
    return new TokenAuthentication(methods, { ...this.#host, path })
  }

  /** The authentication for the target of a request. */
  #for(target: string | undefined): TokenAuthentication {
    if (this.#others.length === 0 || target === undefined || target === this.#host.path) return this
    const path = target.split('?', 1)[0] as string
    return this.#others.find(({ paths }) => paths.has(path))?.authentication ?? this
  }

  /** Prepares what callers are told about the server. */
  #describe(): Challenges {
    const methods = this.#methods
    this.#resource = methods.find(({ resource }) => resource !== undefined)?.resource
    this.#metadata =
      this.#resource === undefined ? undefined : createMetadata(this.#resource, methods, this.#host)
    return new Challenges(methods, this.#metadata?.url)
  }

  document(head: HttpHead): ReturnType<Authentication['document']> {
    let found = this.#metadata?.answer(head)
    for (const { authentication } of this.#others) found ??= authentication.document(head)
    return found
  }

  challenge(...[error, path]: Parameters<Authentication['challenge']>): Headers {
    const challenges = this.#for(path).#challenges
    return error.kind === 'auth_rejected'
      ? challenges.rejected(REVOKED, 'bearer').headers
      : challenges.insufficient(error)
  }

  #authenticate(head: HttpHead): Caller | Promise<Caller> {
    const usual = this.#findUsual(head)
    if (usual !== undefined) return this.#pass(usual)
    const given = readCredentials(head)
    if (given === undefined) return this.#withNonce(this.#challenges.missing(explainMissing(head)), undefined)
    if ('malformed' in given) return this.#challenges.malformed(given.malformed)
    const found = this.#verifier.find(given.token, senderOf(head))
    const decide = (known: Known | Rejected): Caller | Promise<Caller> =>
      'rejected' in known ? this.#reject(known, given, undefined) : this.#admit(known, given, head)
    return found instanceof Promise ? found.then(decide) : decide(found)
  }

  /** What is known of the token of a usual request: one that is not bound to a key, which need not be read to be found. */
  #findUsual(head: HttpHead): Known | undefined {
    const header = head.header('authorization')
    if (header === undefined || head.target?.includes('?') === true) return undefined
    const known = this.#verifier.findHeader(header, head.connection)
    return known?.confirm === undefined ? known : undefined
  }

  #admit(known: Known, given: Credentials, head: HttpHead): Caller | Promise<Caller> {
    const { confirm, method } = known
    if (confirm === undefined)
      return given.scheme === 'dpop' ? this.#reject(NOT_BOUND, given, method) : this.#pass(known)
    return this.#confirm(confirm, this.#present(given, head)).then((problem) => {
      const revoked = this.#verifier.isNotRevoked(known) ? undefined : REVOKED
      const rejected = problem ?? revoked
      return rejected === undefined ? this.#pass(known) : this.#reject(rejected, given, method)
    })
  }

  async #confirm(
    confirm: NonNullable<Accepted['confirm']>,
    presented: Presented,
  ): Promise<Rejected | undefined> {
    try {
      return await confirm(presented)
    } catch (cause) {
      return { rejected: 'unavailable', why: 'its proof could not be checked', cause }
    }
  }

  #pass({ caller, missing, method }: Known): Caller | Promise<Caller> {
    if (missing.length === 0) return this.#withNonce(caller, method)
    const needed = method.scopes
    const facts = { item: 'this server', scopes: needed.join(' '), missing: missing.join(' ') }
    const error = mcpError(INSUFFICIENT_SCOPE, facts, { data: { scopes: needed } })
    // No issuer grants the scopes of a method that the metadata is not about; only the body names them.
    const named = describedMethods(this.#methods).includes(method) ? error : undefined
    return this.#withNonce({ error, headers: this.#challenges.insufficient(named) }, method)
  }

  #reject(
    rejected: Rejected,
    { scheme, ip }: Credentials,
    method: AuthMethod | undefined,
  ): Caller | Promise<Caller> {
    this.#report(rejected, ip)
    return this.#withNonce(this.#challenges.rejected(rejected, scheme), method)
  }

  /**
   * Adds a nonce for the next proof of the client, if it needs one. Each method has its own nonces; a client whose method is not known
   * yet gets that of the first, and the right one with its first proof.
   */
  #withNonce(caller: Caller, method: AuthMethod | undefined): Caller | Promise<Caller> {
    const nonce = method === undefined ? this.#firstNonce() : method.nonce?.()
    if (nonce === undefined) return caller
    const add = (value: string): Caller => ({
      ...caller,
      headers: { ...caller.headers, 'dpop-nonce': value },
    })
    return typeof nonce === 'string' ? add(nonce) : nonce.then(add)
  }

  #present({ scheme, token }: Credentials, head: HttpHead): Presented {
    const { method, certificate } = head
    const resource = this.#host.path === undefined ? this.#resource : undefined
    return {
      scheme,
      token,
      method,
      url: this.#urlOf(head),
      resource,
      proof: head.header('dpop'),
      certificate,
    }
  }

  /** The URL that the client used. Proxies may change host and path, so the option `resource` goes before the request. */
  #urlOf(head: HttpHead): string {
    const path = (head.target ?? '/').split('?', 1)[0] as string
    const resource = this.#resource
    if (resource === undefined) return `${head.scheme ?? 'http'}://${head.header('host') ?? ''}${path}`
    if (path === this.#host.path) return resource
    return siblingOf(resource, this.#host.path, path) ?? `${parseUrl(resource).origin}${path}`
  }
}

/**
 * The URL of another path of a listener, as clients use it. Undefined if the resource contains it already, or if it does not end with the
 * path of the listener: then a proxy renames paths, and nothing is known about the others.
 */
function siblingOf(resource: string, path: string | undefined, other: string): string | undefined {
  const { origin, pathname } = parseUrl(resource)
  if (path === undefined || path === other || pathname === '/' || !pathname.endsWith(path)) return undefined
  return `${origin}${pathname.slice(0, -path.length)}${other}`
}

/** Tells clients apart by their address, as far as it is known. */
function senderOf({ ip }: HttpHead): string | undefined {
  return ip === undefined ? undefined : networkOf(ip)
}
