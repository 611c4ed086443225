import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { methodRow } from '../protocol/methods.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import { sealParams } from '../wire/2026-07-28/seal.ts'
import { encodeHeaderValue } from '../wire/headers.ts'
import { toParamHeaders, type ParamHeader } from '../wire/param-headers.ts'
import { sealRequest } from '../wire/seal.ts'

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
  const { id, method, params, revision, sender } = parts
  if (revision !== LATEST) return { id, method, text: sealRequest(id, method, params, revision) }
  const level = sender.logLevel === undefined ? {} : { [META.logLevel]: sender.logLevel }
  const told = { ...params, _meta: { ...(params['_meta'] as JsonObject | undefined), ...level } }
  return {
    id,
    method,
    text: sealRequest(id, method, sealParams(told, sender), revision),
    headers: headersOf(parts),
  }
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
