import type { AddressInfo, ListenOptions, Server } from 'node:net'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'

/** Starts listening; when that fails, the error says what to do about it. */
export function listening(server: Server, address: ListenOptions, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const reason = reasonOf(error, address)
      reject(mcpError(BAD_OPTION, { where: `listen on ${name}`, reason }, { cause: error }))
    }
    server.once('error', failed)
    server.listen(address, () => {
      server.off('error', failed)
      resolve()
    })
  })
}

/** The host and port in URL form. */
export function authorityOf(host: string, server: Server): string {
  const { port } = server.address() as AddressInfo
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function reasonOf({ code, message }: NodeJS.ErrnoException, { port, path }: ListenOptions): string {
  if (path !== undefined) return pathReason(code) ?? message
  if (code === 'EADDRINUSE') return `port ${port} is in use; choose another, or 0 for any`
  if (code === 'EACCES') return `port ${port} needs more privileges than this user has; choose one above 1023`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `this machine has no such address: ${message}`
  return message
}

function pathReason(code: string | undefined): string | undefined {
  // The system reports both problems with these codes.
  if (code === 'EACCES' || code === 'ENOENT' || code === 'ENOTDIR')
    return 'the directory does not exist or is not writable; create it, or choose another'
  return undefined
}
