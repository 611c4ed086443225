import { badOption } from '../base/options.ts'

/** Rejects headers that the protocol reserves. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const reserved = Object.keys(headers).find((name) => name.toLowerCase().startsWith('mcp-'))
  if (reserved !== undefined)
    throw badOption(`headers ${JSON.stringify(reserved.slice(0, 64))}`, 'the client sets it itself')
}
