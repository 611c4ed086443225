import { mcpError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'
import { methodRow } from '../../protocol/methods.ts'
import type { Peer } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { isClaim, openEnvelope } from '../../wire/2026-07-28/open.ts'
import { checkRequestHeaders, type HeaderProblem } from '../../wire/headers.ts'
import { checkParamHeaders, paramHeadersOf, type ParamHeader } from '../../wire/param-headers.ts'
import type { HttpIn } from './parts.ts'

/** Reads the metadata of a request and checks that its headers repeat what its body says. */
export function openRequest(method: string, params: JsonObject, request: HttpIn, service: Service): Peer {
  if (!isClaim(params)) {
    if (method === 'initialize')
      throw mismatch({ header: 'MCP-Protocol-Version', reason: 'does not belong to initialize' })
    throw mcpError('bad_envelope', {
      reason: `${META.protocolVersion} and ${META.clientCapabilities} are missing`,
    })
  }
  const version = (params['_meta'] as JsonObject)[META.protocolVersion]
  const header = (name: string): string | undefined => request.header(name)
  const row = methodRow(method)
  const name = row?.named === undefined ? undefined : params[row.named]
  if (typeof version === 'string' && row !== undefined) {
    const problem = checkRequestHeaders({
      header,
      version,
      method,
      name: typeof name === 'string' ? name : undefined,
    })
    if (problem !== undefined) throw mismatch(problem)
  }
  const peer = openEnvelope(params, service.revisions)
  if (method === 'tools/call' && typeof name === 'string') {
    const rules = rulesOf(service.inputSchema(name))
    const problem = rules.length === 0 ? undefined : checkParamHeaders(rules, params['arguments'], header)
    if (problem !== undefined) throw mismatch(problem)
  }
  return peer
}

function mismatch({ header, reason }: HeaderProblem): Error {
  return mcpError('header_mismatch', { header, reason }, { data: { header } })
}

const NO_RULES: readonly ParamHeader[] = []
const known = new WeakMap<JsonObject, readonly ParamHeader[]>()

/** The headers that a tool's schema asks for, found once per schema. */
function rulesOf(schema: JsonObject | undefined): readonly ParamHeader[] {
  if (schema === undefined) return NO_RULES
  let rules = known.get(schema)
  if (rules === undefined) {
    const found = paramHeadersOf(schema)
    known.set(schema, (rules = 'problem' in found ? NO_RULES : found))
  }
  return rules
}
