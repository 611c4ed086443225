import { type McpError, mcpError } from '../../../errors/error.ts'
import { HTTP_FAILED } from '../../../errors/client.ts'
import { nameOf } from './fetch.ts'

/** The error for a redirect that is not followed. */
export function toRedirected(method: string, status: number, target: URL | undefined): McpError {
  const where = target === undefined ? 'another URL' : nameOf(target)
  const data = { status, ...(target !== undefined && { location: nameOf(target) }) }
  return mcpError(
    HTTP_FAILED,
    { method, status, reason: `: it redirects to ${where}, which is not followed` },
    { data },
  )
}
