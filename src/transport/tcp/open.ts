import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import { opened, openTls, OPEN_MS, type OpenSocket } from '../tls/open.ts'
import { checkFragment, targetOf } from '../tls/problems.ts'
import type { ClientTls } from '../tls/options.ts'

/** After this much silence the system sends TCP keep-alive probes. */
const PROBE_MS = 15_000

/** Reads a URL and options; returns a function that opens a socket to it. */
export function openSocket(url: URL, tls: ClientTls, timeoutMs: number = OPEN_MS): OpenSocket {
  checkFragment(url)
  const openMs = Math.min(OPEN_MS, timeoutMs)
  if (url.protocol === 'unix:') {
    const path = pathOf(url)
    return (signal) => opened(url, connect({ path }), 'connect', openMs, signal)
  }
  const address = { ...addressOf(url), noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS }
  if (url.protocol === 'tcp:') return (signal) => opened(url, connect(address), 'connect', openMs, signal)
  return openTls(url, address, tls, openMs)
}

function pathOf(url: URL): string {
  try {
    return fileURLToPath(`file://${url.pathname}`)
  } catch {
    const reason = 'write the absolute path of the socket file, e.g. unix:/run/user/1000/mcp.sock'
    // Whatever is not a path may be a password.
    const shown = url.pathname.startsWith('/') ? `unix:${url.pathname}` : 'unix:…'
    throw mcpError(BAD_OPTION, { where: `connect to "${shown}"`, reason })
  }
}

function addressOf(url: URL): { readonly host: string; readonly port: number } {
  const port = Number(url.port)
  if (url.hostname !== '' && url.port !== '' && port > 0)
    return { host: url.hostname.replace(/^\[|\]$/g, ''), port }
  const reason = `write the host and the port, e.g. ${url.protocol}//127.0.0.1:4000`
  throw mcpError(BAD_OPTION, { where: `connect to "${targetOf(url)}"`, reason })
}
