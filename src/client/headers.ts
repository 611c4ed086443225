import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'

/** Refuses headers that the protocol keeps for itself. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const taken = Object.keys(headers).find((name) => name.toLowerCase().startsWith('mcp-'))
  if (taken !== undefined)
    throw mcpError(BAD_OPTION, {
      where: `headers ${JSON.stringify(taken.slice(0, 64))}`,
      reason: 'it is set by the client itself',
    })
}
