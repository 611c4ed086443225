import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { methodRow } from '../protocol/methods.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import { envelopeOf } from '../wire/2026-07-28/encode.ts'
import { encodeHeaderValue } from '../wire/header-value.ts'
import { withMembers } from '../wire/result-text.ts'
import type { Forms } from './forms.ts'
import type { ParamHeaders } from './known-tools.ts'

/** Who sends requests, with what each request of the newest revision says of that, ready to be sent. */
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
  /** Whether progress is asked for, under the id. */
  readonly wantsProgress: boolean
}

/** The text of a request in the form of a revision. */
export function encodeCall({
  id,
  method,
  params,
  revision,
  forms,
  sender,
  wantsProgress,
}: CallParts): string {
  const formed = forms.request(method, params)
  const isNewest = revision === LATEST
  const own = formed['_meta'] as JsonObject | null | undefined
  if (own !== undefined) {
    const meta = {
      ...own,
      ...(wantsProgress && { [META.progressToken]: id }),
      ...(isNewest && sender.meta),
    }
    return textOf(id, method, { ...formed, _meta: meta })
  }
  const token = wantsProgress ? `"${META.progressToken}":${id}` : ''
  const envelope = isNewest ? sender.metaText : ''
  const meta = token === '' || envelope === '' ? token + envelope : `${token},${envelope}`
  const bare = JSON.stringify(formed)
  const told = meta === '' ? bare : withMembers(`"_meta":{${meta}},`, bare)
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${told}}`
}

/** The text of a notification. */
export function encodeNote(method: string, params: JsonObject, forms: Forms): string {
  return textOf(undefined, method, forms.notification(method, params))
}

function textOf(id: number | undefined, method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** The headers that go with a request of the newest revision. */
export function headersOf(
  method: string,
  params: JsonObject,
  mirror?: ParamHeaders,
): Readonly<Record<string, string>> {
  const named = methodRow(method)?.named
  const name = named === undefined ? undefined : params[named]
  return {
    'mcp-protocol-version': LATEST,
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': encodeHeaderValue(name) } : {}),
    ...mirror?.(params['arguments']),
  }
}
