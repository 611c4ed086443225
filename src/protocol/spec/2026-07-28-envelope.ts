import type { META } from '../meta.ts'
import type { RequestId } from '../jsonrpc.ts'
import type {
  CacheHints,
  ClientCapabilities,
  Implementation,
  InputRequiredResult,
  LoggingLevel,
  Meta,
  RequestParamsMeta,
} from './2026-07-28.ts'

/** The members that 2026-07-28 adds to every message on the wire. */

/** `params._meta` of every request. */
export interface RequestMeta extends RequestParamsMeta {
  readonly [META.protocolVersion]: string
  readonly [META.clientCapabilities]: ClientCapabilities
  readonly [META.clientInfo]?: Implementation
  readonly [META.logLevel]?: LoggingLevel
}

/** `_meta` of every result. */
export interface ResultMeta extends Meta {
  readonly [META.serverInfo]?: Implementation
  readonly [META.subscriptionId]?: RequestId
}

/** Params on the wire. */
export type Enveloped<Params> = Omit<Params, '_meta'> & { readonly _meta: RequestMeta }

/** A result on the wire: with its type, and with caching hints if the method has them. */
export type Sealed<Result> = Omit<Result, '_meta' | keyof CacheHints> & {
  readonly resultType: 'complete'
  readonly _meta?: ResultMeta
} & ('ttlMs' extends keyof Result ? Required<CacheHints> : unknown)

/** A result that ends one round, on the wire. */
export interface SealedInputRequired extends InputRequiredResult {
  readonly resultType: 'input_required'
  readonly _meta?: ResultMeta
}

/** `error.data` of -32022. */
export interface UnsupportedVersionData {
  readonly supported: readonly string[]
  readonly requested: string
}

/** `error.data` of -32021. */
export interface MissingCapabilityData {
  readonly requiredCapabilities: ClientCapabilities
}
