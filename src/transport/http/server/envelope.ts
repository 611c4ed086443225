import { mcpError } from '../../../errors/error.ts'
import { HEADER_MISMATCH } from '../../../errors/http.ts'
import { BAD_ENVELOPE } from '../../../errors/server.ts'
import type { JsonObject } from '../../../protocol/jsonrpc.ts'
import { META } from '../../../protocol/meta.ts'
import { methodRow } from '../../../protocol/methods.ts'
import type { Peer } from '../../../rpc/call.ts'
import type { Service } from '../../../rpc/service.ts'
import { hasEnvelope, decodeEnvelope } from '../../../wire/2026-07-28/decode.ts'
import { checkRequestHeaders, type HeaderProblem } from '../../../wire/headers.ts'
import type { HttpIn } from './parts.ts'

/** Reads the metadata of a request and checks that its headers match its body. */
export function openRequest(method: string, params: JsonObject, request: HttpIn, service: Service): Peer {
  if (!hasEnvelope(params)) {
    if (method === 'initialize')
      throw mismatch({ header: 'MCP-Protocol-Version', reason: 'must not be sent with initialize' })
    throw mcpError(BAD_ENVELOPE, {
      reason: `${META.protocolVersion} and ${META.clientCapabilities} are missing`,
    })
  }
  const version = (params['_meta'] as JsonObject)[META.protocolVersion]
  const header = (name: string): string | undefined => request.header(name)
  const row = methodRow(method)
  const named = row?.named ?? service.observers.targets.get(method)
  const name = named === undefined ? undefined : params[named]
  if (typeof version === 'string') {
    const problem = checkRequestHeaders({
      header,
      version,
      method,
      name: typeof name === 'string' ? name : undefined,
      // The protocol does not say that methods of extensions have these headers.
      areOptional: row === undefined,
    })
    if (problem !== undefined) throw mismatch(problem)
  }
  return decodeEnvelope(params, service)
}

function mismatch({ header, reason }: HeaderProblem): Error {
  return mcpError(HEADER_MISMATCH, { header, reason }, { data: { header } })
}
