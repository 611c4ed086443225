import { badOption } from '../base/options.ts'
import type { McpError } from '../errors/error.ts'

/** Explains why a target is invalid and what to pass instead. */
export function noTarget(target: unknown): McpError {
  return badOption('connect', reasonOf(target))
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

/** A text that is not a valid URL may contain secrets anywhere: before an @, and after ?, # and =. */
function urlIssue(url: string): string {
  const host = url.trim().replace(/^([\w+.-]*:?\/\/)?.*@/s, '$1')
  const shown = host.replace(/([?#=]).+/s, '$1…').slice(0, 128)
  if (HOST.test(url))
    return `"${shown}" is not a URL; write ${/^(localhost|\[|127\.)/i.test(url) ? 'http' : 'https'}://${shown}`
  return `"${shown}" is not an http, https, ws, wss, tcp, tls or unix URL; to start a program, write { command, args }`
}
