import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { methodRow } from '../../src/protocol/methods.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { encodeHeaderValue } from '../../src/wire/header-value.ts'
import { spell } from './json-text.ts'
import { mutateText } from './mutate.ts'
import type { Random } from './random.ts'
import { REQUESTS } from './requests.ts'
import { messageText } from './seeds.ts'
import { anyText } from './values.ts'

/** An HTTP request in parts. A session is named by its revision; whoever sends it puts the real id there. */
export interface HttpRequest {
  readonly verb: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const VERBS = [
  'POST',
  'POST',
  'POST',
  'POST',
  'POST',
  'POST',
  'GET',
  'DELETE',
  'OPTIONS',
  'PUT',
  'HEAD',
  'PATCH',
]
// oxfmt-ignore
const ODD: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['accept', ['application/json', 'text/event-stream', 'text/html', '*/*;q=0', '', 'application/json;q=0, */*']],
  ['content-type', ['text/plain', 'application/json; charset=utf-16', 'application/json;charset=utf-8', 'multipart/form-data']],
  ['content-encoding', ['gzip', 'identity', 'br']],
  ['mcp-protocol-version', ['2026-07-28', '2025-03-26', '1', '']],
  ['mcp-session-id', ['none', '', '0'.repeat(300), '2025-06-18']],
  ['last-event-id', ['0', 'x', '1-1', '99999999999999999999', '-1']],
  ['origin', ['http://localhost', 'http://evil.example', 'null', 'file://']],
  ['mcp-name', ['echo', '=?base64?ZWNobw==?=', '=?base64?!?=']],
  ['mcp-method', ['tools/call', 'ping']],
  ['mcp-param-pier', ['north', '=?base64?bm9ydGg=?=']],
  ['access-control-request-headers', ['mcp-param-x, x-evil', 'mcp-param-a b']],
]

/** A request as a client would send it, or one that is wrong in its head, its body or both. */
export function anyRequest(random: Random): HttpRequest {
  const revision = random.pick(REVISIONS)
  const requests = REQUESTS.get(revision) as readonly JsonObject[]
  const message = random.pick(requests)
  const body = random.oneIn(3) ? spell(message, random) : messageText(random, requests)
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...headersFor(message, revision),
  }
  for (let left = random.few(3); left > 0; left--) {
    const [name, values] = random.pick(ODD)
    const value = random.oneIn(4) ? anyText(random) : random.pick(values)
    headers[name] = random.oneIn(4) ? mutateText(value, random) : value
  }
  const dropped = random.oneIn(8) ? random.pick(Object.keys(headers)) : undefined
  if (dropped !== undefined) delete headers[dropped]
  return { verb: random.pick(VERBS), headers, body }
}

function headersFor(message: JsonObject, revision: Revision): Record<string, string> {
  const { method, params } = message as { readonly method?: string; readonly params?: JsonObject }
  if (revision !== '2026-07-28')
    return method === 'initialize' ? {} : { 'mcp-session-id': revision, 'mcp-protocol-version': revision }
  const named = methodRow(method ?? '')?.named
  const name = named === undefined ? undefined : params?.[named]
  const pier = (params?.['arguments'] as JsonObject | undefined)?.['pier']
  return {
    'mcp-protocol-version': revision,
    ...(method !== undefined && { 'mcp-method': method }),
    ...(typeof name === 'string' && { 'mcp-name': encodeHeaderValue(name) }),
    ...(typeof pier === 'string' && { 'mcp-param-pier': encodeHeaderValue(pier) }),
  }
}
