import { BAD_OPTION } from './base.ts'
import { mcpError } from './error.ts'

/** Whether servers may give an error this code a meaning of their own. */
export function isCustomCode(code: unknown): code is number {
  if (!Number.isSafeInteger(code)) return false
  return !RESERVED.some(([first, last]) => first <= (code as number) && (code as number) <= last)
}

/** The codes of JSON-RPC and MCP, and the numbers of refusals. */
const RESERVED = [
  [-32_768, -32_000],
  [1001, 1099],
] as const

/** An error that only a server and its clients know. */
export const CUSTOM = {
  kind: 'custom',
  code: 0,
  checkCode: (code: number | undefined): void => {
    if (isCustomCode(code)) return
    const given = code === undefined ? 'it is missing' : `${String(code)} is not`
    const reason = `an error of kind 'custom' needs a code: a whole number, not from -32768 to -32000 (JSON-RPC and MCP) or 1001 to 1099 (refusals); ${given}`
    throw mcpError(BAD_OPTION, { where: 'McpError', reason })
  },
  text: '{message}',
  hint: 'Look up the code in the documentation of the server.',
} as const
