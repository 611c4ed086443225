import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { methodRow } from '../protocol/methods.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import { sealParams } from '../wire/2026-07-28/seal.ts'
import { encodeHeaderValue } from '../wire/headers.ts'
import { toParamHeaders, type ParamHeader } from '../wire/param-headers.ts'
import type { Forms } from './forms.ts'

/** Who sends a request. */
export interface Sender {
  readonly client: JsonObject
  readonly capabilities: JsonObject
  /** The level of log messages wanted with the answer, where each request says so. */
  readonly logLevel?: string | undefined
}

export interface CallParts {
  readonly id: number
  readonly method: string
  readonly params: JsonObject
  readonly revision: Revision
  readonly forms: Forms
  readonly sender: Sender
  /** Arguments that travel as headers too. */
  readonly paramHeaders?: readonly ParamHeader[] | undefined
}

/** The text of a request and the headers that go with it, in the form of a revision. */
export function sealCall(parts: CallParts): {
  readonly id: number
  readonly method: string
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
} {
  const { id, method, params, revision, forms, sender } = parts
  if (revision !== LATEST) return { id, method, text: textOf(id, method, forms.request(method, params)) }
  const level = sender.logLevel === undefined ? {} : { [META.logLevel]: sender.logLevel }
  const told = { ...params, _meta: { ...(params['_meta'] as JsonObject | undefined), ...level } }
  return {
    id,
    method,
    text: textOf(id, method, sealParams(told, sender)),
    headers: headersOf(parts),
  }
}

/** The text of a notification. */
export function sealNote(method: string, params: JsonObject, forms: Forms): string {
  return textOf(undefined, method, forms.notification(method, params))
}

function textOf(id: number | undefined, method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** The same params, asking for progress under a token. */
export function withToken(params: JsonObject, token: number): JsonObject {
  return { ...params, _meta: { ...(params['_meta'] as JsonObject | undefined), [META.progressToken]: token } }
}

function headersOf({ method, params, revision, paramHeaders }: CallParts): Readonly<Record<string, string>> {
  const named = methodRow(method)?.named
  const name = named === undefined ? undefined : params[named]
  const mirrored = paramHeaders === undefined ? [] : toParamHeaders(paramHeaders, params['arguments'])
  return {
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': encodeHeaderValue(name) } : {}),
    ...Object.fromEntries(mirrored),
  }
}
