import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { connect as connectTls } from 'node:tls'
import { type McpError, mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import { CONNECT_FAILED } from '../../errors/transport.ts'
import { clientTls } from '../tls/client.ts'
import { explain, targetOf } from '../tls/problems.ts'
import type { ClientTls } from '../tls/options.ts'

/** How long connecting may take, including the TLS handshake. */
const OPEN_MS = 10_000
/** After this much silence the system sends TCP keep-alive probes. */
const PROBE_MS = 15_000

/** Reads a URL and options; returns a function that opens a socket to it. */
export function openSocket(url: URL, tls: ClientTls, timeoutMs: number = OPEN_MS): () => Promise<Socket> {
  const openMs = Math.min(OPEN_MS, timeoutMs)
  if (url.protocol === 'unix:') {
    const path = pathOf(url)
    return () => opened(url, connect({ path }), 'connect', openMs)
  }
  const address = { ...addressOf(url), noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS }
  if (url.protocol === 'tcp:') return () => opened(url, connect(address), 'connect', openMs)
  const secure = clientTls(address.host, tls)
  return async () => {
    const socket = connectTls({ ...address, ...secure.settings })
    await opened(url, socket, 'secureConnect', openMs)
    const problem = secure.problemOf(socket)
    if (problem === undefined) return socket
    socket.destroy()
    throw failed(url, problem)
  }
}

function opened(
  url: URL,
  socket: Socket,
  event: 'connect' | 'secureConnect',
  openMs: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy()
      reject(failed(url, `no response within ${openMs / 1000} seconds; a firewall may be in the way`))
    }, openMs)
    const fail = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer)
      socket.destroy()
      reject(failed(url, explain(error, url), error))
    }
    // Later errors show when the socket closes.
    socket.on('error', () => undefined)
    socket.once('error', fail)
    socket.once(event, () => {
      clearTimeout(timer)
      socket.off('error', fail)
      resolve(socket)
    })
  })
}

function failed(url: URL, reason: string, cause?: unknown): McpError {
  return mcpError(CONNECT_FAILED, { target: targetOf(url), reason }, { cause })
}

function pathOf(url: URL): string {
  try {
    return fileURLToPath(`file://${url.pathname}`)
  } catch (cause) {
    const reason = 'write the absolute path of the socket file, e.g. unix:/run/user/1000/mcp.sock'
    throw mcpError(BAD_OPTION, { where: `connect to "${url.href}"`, reason }, { cause })
  }
}

function addressOf(url: URL): { readonly host: string; readonly port: number } {
  const port = Number(url.port)
  if (url.hostname !== '' && url.port !== '' && port > 0)
    return { host: url.hostname.replace(/^\[|\]$/g, ''), port }
  const reason = `write the host and the port, e.g. ${url.protocol}//127.0.0.1:4000`
  throw mcpError(BAD_OPTION, { where: `connect to "${url.href}"`, reason })
}
