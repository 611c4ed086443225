import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'

/** Why something cannot be connected to, and what to write instead. */
export function noTarget(target: unknown): McpError {
  return mcpError(BAD_OPTION, { where: 'connect', reason: reasonOf(target) })
}

const FORMS = 'name a URL, { command, args } or a server'
/** A host, perhaps with a port and a path, for which only the scheme was forgotten. */
const HOST = /^(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[\da-f:]+\])(?::\d+)?(?:\/\S*)?$/i

function reasonOf(target: unknown): string {
  if (typeof target === 'string' || target instanceof URL) return urlIssue(String(target))
  if (typeof target !== 'object' || target === null) return FORMS
  if (target instanceof Promise) return 'that is a promise: await it first'
  if ('mcpServers' in target || 'servers' in target)
    return 'that is a whole mcp.json: give one entry, or use connectAll'
  if ('url' in target) return urlIssue(String(target.url))
  return `that object has neither a command nor a url; ${FORMS}`
}

function urlIssue(url: string): string {
  const shown = url.slice(0, 128).replace(/\/\/[^/@]*@/, '//')
  if (HOST.test(url))
    return `"${shown}" is no URL: write ${/^(localhost|\[|127\.)/i.test(url) ? 'http' : 'https'}://${shown}`
  return `"${shown}" is no http, https, ws, wss, tcp, tls or unix URL; to start a program write { command, args }`
}
