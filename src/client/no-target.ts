import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'

/** Explains why a target is invalid and what to pass instead. */
export function noTarget(target: unknown): McpError {
  return mcpError(BAD_OPTION, { where: 'connect', reason: reasonOf(target) })
}

const FORMS = 'pass a URL, { command, args } or a server'
/** A URL whose scheme is missing. */
const HOST = /^(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[\da-f:]+\])(?::\d+)?(?:\/\S*)?$/i

function reasonOf(target: unknown): string {
  if (typeof target === 'string' || target instanceof URL) return urlIssue(String(target))
  if (typeof target !== 'object' || target === null) return FORMS
  if (target instanceof Promise) return 'the target is a promise; await it first'
  if ('mcpServers' in target || 'servers' in target)
    return 'the target is an entire mcp.json file; pass one entry, or use connectAll'
  if ('url' in target) return urlIssue(String(target.url))
  return `the target has neither a command nor a url; ${FORMS}`
}

function urlIssue(url: string): string {
  const shown = url.slice(0, 128).replace(/\/\/[^/@]*@/, '//')
  if (HOST.test(url))
    return `"${shown}" is not a URL; write ${/^(localhost|\[|127\.)/i.test(url) ? 'http' : 'https'}://${shown}`
  return `"${shown}" is not an http, https, ws, wss, tcp, tls or unix URL; to start a program, write { command, args }`
}
