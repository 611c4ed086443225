import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { methodRow } from '../protocol/methods.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import { envelopeOf } from '../wire/2026-07-28/encode.ts'
import { encodeHeaderValue } from '../wire/header-value.ts'
import { withMembers } from '../wire/result-text.ts'
import type { Forms } from './forms.ts'
import type { ParamHeaders } from './known-tools.ts'

/** The client as requests describe it. The newest revision sends this in every request, so it is encoded once. */
export interface Sender {
  readonly client: JsonObject
  readonly capabilities: JsonObject
  readonly meta: JsonObject
  /** The members of `meta`, as text. */
  readonly metaText: string
}

export function createSender(client: JsonObject, capabilities: JsonObject, logLevel?: string): Sender {
  const level = logLevel === undefined ? {} : { [META.logLevel]: logLevel }
  const meta = { ...level, ...envelopeOf(client, capabilities) }
  return { client, capabilities, meta, metaText: JSON.stringify(meta).slice(1, -1) }
}

export interface CallParts {
  readonly id: number
  readonly method: string
  readonly params: JsonObject
  readonly revision: Revision
  readonly forms: Forms
  readonly sender: Sender
  /** Whether to ask for progress, with the id as the token. */
  readonly wantsProgress: boolean
}

/** Encodes a request in the form of a revision. */
export function encodeCall({
  id,
  method,
  params,
  revision,
  forms,
  sender,
  wantsProgress,
}: CallParts): string {
  const lowered = forms.request(method, params)
  const isNewest = revision === LATEST
  const own = lowered['_meta'] as JsonObject | null | undefined
  if (own !== undefined) {
    const meta = {
      ...own,
      ...(wantsProgress && { [META.progressToken]: id }),
      ...(isNewest && sender.meta),
    }
    return textOf(id, method, { ...lowered, _meta: meta })
  }
  const token = wantsProgress ? `"${META.progressToken}":${id}` : ''
  const envelope = isNewest ? sender.metaText : ''
  const meta = token === '' || envelope === '' ? token + envelope : `${token},${envelope}`
  const bare = JSON.stringify(lowered)
  const paramsText = meta === '' ? bare : withMembers(`"_meta":{${meta}},`, bare)
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${paramsText}}`
}

export function encodeNotification(method: string, params: JsonObject, forms: Forms): string {
  return textOf(undefined, method, forms.notification(method, params))
}

function textOf(id: number | undefined, method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** The headers that go with a request of the newest revision. */
export function headersOf(
  method: string,
  params: JsonObject,
  paramHeaders?: ParamHeaders,
): Readonly<Record<string, string>> {
  const named = methodRow(method)?.named
  const name = named === undefined ? undefined : params[named]
  return {
    'mcp-protocol-version': LATEST,
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': encodeHeaderValue(name) } : {}),
    ...paramHeaders?.(params['arguments']),
  }
}
