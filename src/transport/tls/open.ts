import type { LookupFunction, Socket } from 'node:net'
import { connect, type ConnectionOptions } from 'node:tls'
import { type McpError, mcpError } from '../../errors/error.ts'
import { CONNECT_FAILED } from '../../errors/transport.ts'
import { clientTls } from './client.ts'
import type { ClientTls } from './options.ts'
import { explain, targetOf } from './problems.ts'

/** How long connecting may take, including the TLS handshake. */
export const OPEN_MS = 10_000

/** Opens a socket, unless a signal aborts first. `lookup` resolves the name in place of that of Node. */
export type OpenSocket = (signal?: AbortSignal, lookup?: LookupFunction) => Promise<Socket>

/** Reads TLS options; returns a function that opens a socket to an address, whose certificate it has checked. */
export function openTls(
  url: URL,
  address: ConnectionOptions & { readonly host: string },
  tls: ClientTls,
  openMs: number = OPEN_MS,
): OpenSocket {
  const secure = clientTls(address.host, tls)
  return async (signal, lookup) => {
    const socket = connect({ ...address, ...secure.settings, ...(lookup && { lookup }) })
    await opened(url, socket, 'secureConnect', openMs, signal)
    const problem = secure.problemOf(socket)
    if (problem === undefined) return socket
    socket.destroy()
    throw failed(url, problem)
  }
}

/** Waits until a socket is open. Destroys it if that fails, takes too long or is no longer wanted. */
export function opened(
  url: URL,
  socket: Socket,
  event: 'connect' | 'secureConnect',
  openMs: number,
  signal?: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stop(failed(url, `no response within ${openMs / 1000} seconds; a firewall may be in the way`))
    }, openMs)
    const fail = (error: NodeJS.ErrnoException): void => stop(failed(url, explain(error, url), error))
    const abort = (): void => stop(signal?.reason as Error)
    // Later errors show when the socket closes.
    socket.on('error', () => undefined)
    socket.once('error', fail)
    socket.once(event, () => {
      end()
      resolve(socket)
    })
    if (signal?.aborted === true) abort()
    else signal?.addEventListener('abort', abort)

    function stop(error: Error): void {
      end()
      socket.destroy()
      reject(error)
    }

    function end(): void {
      clearTimeout(timer)
      socket.off('error', fail)
      signal?.removeEventListener('abort', abort)
    }
  })
}

function failed(url: URL, reason: string, cause?: unknown): McpError {
  return mcpError(CONNECT_FAILED, { target: targetOf(url), reason }, { cause })
}
