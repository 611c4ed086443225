import {
  AUTH_EXPIRED,
  AUTH_MALFORMED,
  AUTH_MISSING,
  AUTH_PROOF,
  AUTH_REJECTED,
  AUTH_UNAVAILABLE,
} from '../errors/auth.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { LATER } from '../errors/retry-after.ts'
import { joinScopes } from '../rpc/scopes.ts'
import type { AuthMethod, Rejected, Rejection } from '../transport/http/server/auth-method.ts'
import type { Challenge } from '../transport/http/server/authenticate.ts'
import type { Headers } from '../transport/http/server/parts.ts'
import type { Credentials } from './credentials.ts'
import { describedMethods } from './metadata.ts'

interface RejectionRow {
  /** The error code of OAuth; undefined if the reply has no challenge. */
  readonly code: string | undefined
  readonly error: (reason: string) => McpError
}

/** The error and the OAuth error code of each rejection. */
const REJECTIONS: Readonly<Record<Rejection, RejectionRow>> = {
  invalid: { code: 'invalid_token', error: (reason) => mcpError(AUTH_REJECTED, { reason }) },
  expired: { code: 'invalid_token', error: (reason) => mcpError(AUTH_EXPIRED, { reason }) },
  revoked: { code: 'invalid_token', error: (reason) => mcpError(AUTH_REJECTED, { reason }) },
  proof: { code: 'invalid_dpop_proof', error: (reason) => mcpError(AUTH_PROOF, { reason }) },
  nonce: { code: 'use_dpop_nonce', error: (reason) => mcpError(AUTH_PROOF, { reason }) },
  unavailable: { code: undefined, error: () => mcpError(AUTH_UNAVAILABLE, {}, LATER) },
}

/** The challenges of one listener or mount (RFC 6750, section 3; RFC 9449, section 7.1; RFC 9728, section 5.1). */
export class Challenges {
  readonly #scopes: readonly string[]
  readonly #metadataUrl: string | undefined
  readonly #algorithms: string | undefined

  constructor(methods: readonly AuthMethod[], metadataUrl: string | undefined) {
    this.#scopes = [...new Set(describedMethods(methods).flatMap(({ scopes }) => scopes))]
    this.#metadataUrl = metadataUrl
    const algorithms = methods.flatMap(({ metadata }) => metadata['dpop_signing_alg_values_supported'] ?? [])
    this.#algorithms = algorithms.length === 0 ? undefined : [...new Set(algorithms as string[])].join(' ')
  }

  /** For a request without credentials that could be a token. */
  missing(problem: string): Challenge {
    return { error: mcpError(AUTH_MISSING, { problem }), headers: this.#headers({}, this.#scopes) }
  }

  malformed(reason: string): Challenge {
    const parameters = { error: 'invalid_request', error_description: reason }
    return { error: mcpError(AUTH_MALFORMED, { reason }), headers: this.#headers(parameters, this.#scopes) }
  }

  /** For a token that was rejected. */
  rejected({ rejected, why }: Rejected, scheme: Credentials['scheme']): Challenge {
    const { code, error } = REJECTIONS[rejected]
    if (code === undefined) return { error: error(why), headers: {} }
    const needsProof = scheme === 'dpop' || rejected === 'proof' || rejected === 'nonce'
    const parameters = { error: code, error_description: why }
    return { error: error(why), headers: this.#headers(parameters, this.#scopes, needsProof) }
  }

  /** For a caller that lacks scopes: the base scopes and those in the error, since a client may ask for exactly these. */
  insufficient(error?: McpError): Headers {
    const needed: unknown = error?.data?.['scopes']
    const all = new Set([...this.#scopes, ...(Array.isArray(needed) ? needed : [])])
    return this.#headers({ error: 'insufficient_scope' }, [...all])
  }

  #headers(parameters: Headers, scopes: readonly unknown[], needsProof = false): Headers {
    // All scopes are in the body.
    const scope = joinScopes(scopes)
    const all = {
      ...parameters,
      ...(scope !== '' && { scope }),
      ...(this.#metadataUrl !== undefined && { resource_metadata: this.#metadataUrl }),
    }
    const algs = this.#algorithms === undefined ? {} : { algs: this.#algorithms }
    if (needsProof) return { 'www-authenticate': challengeOf('DPoP', { ...all, ...algs }) }
    const bearer = challengeOf('Bearer', all)
    return {
      'www-authenticate': this.#algorithms === undefined ? bearer : `${bearer}, ${challengeOf('DPoP', algs)}`,
    }
  }
}

function challengeOf(scheme: string, parameters: Headers): string {
  const all = Object.entries(parameters).map(([name, value]) => `${name}="${quotable(value)}"`)
  return all.length === 0 ? scheme : `${scheme} ${all.join(', ')}`
}

/** A text without the characters that a quoted value may not have. */
function quotable(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "'")
}
