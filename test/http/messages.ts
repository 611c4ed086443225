import { META } from '../../src/protocol/meta.ts'
import type { JsonObject, RequestId } from '../../src/protocol/jsonrpc.ts'

export type Sendable = Readonly<Record<string, string>>
export const JSON_TYPE: Sendable = { 'content-type': 'application/json' }
export const BOTH: Sendable = { ...JSON_TYPE, accept: 'application/json, text/event-stream' }

/** The text of a request; without an id, of a notification. */
export function message(method: string, params?: JsonObject, id?: RequestId): string {
  const about = id === undefined ? {} : { id: Number(id) }
  return JSON.stringify({ jsonrpc: '2.0', ...about, method, ...(params === undefined ? {} : { params }) })
}

export function initialize(protocolVersion: string = '2025-11-25', capabilities: JsonObject = {}): string {
  const clientInfo = { name: 'wire', version: '1' }
  return message('initialize', { protocolVersion, capabilities, clientInfo }, 1)
}

export function call(name: string, args: JsonObject = {}, id: number = 2, meta?: JsonObject): string {
  const more = meta === undefined ? {} : { _meta: meta }
  return message('tools/call', { name, arguments: args, ...more }, id)
}

/** The metadata that every request of 2026-07-28 carries. */
export const ENVELOPE: JsonObject = {
  [META.protocolVersion]: '2026-07-28',
  [META.clientCapabilities]: {},
  [META.clientInfo]: { name: 'wire', version: '1' },
}

export interface Headed {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** A request of 2026-07-28 with the headers that repeat it. */
export function headed(method: string, params: JsonObject = {}, id: number = 1): Headed {
  const { _meta, ...rest } = params
  const named = params['name'] ?? params['uri']
  return {
    body: message(method, { ...rest, _meta: { ...ENVELOPE, ...(_meta as JsonObject | undefined) } }, id),
    headers: {
      ...BOTH,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
    },
  }
}
