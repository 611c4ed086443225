import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'

/** Rejects headers that the protocol reserves. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const reserved = Object.keys(headers).find((name) => name.toLowerCase().startsWith('mcp-'))
  if (reserved !== undefined)
    throw mcpError(BAD_OPTION, {
      where: `headers ${JSON.stringify(reserved.slice(0, 64))}`,
      reason: 'the client sets this header itself',
    })
}
