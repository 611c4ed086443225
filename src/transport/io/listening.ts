import type { AddressInfo, ListenOptions, Server } from 'node:net'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'

/** Begins to listen; throws what can be done about it when that fails. */
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

/** A host and a port as URLs write them. */
export function authorityOf(host: string, server: Server): string {
  const { port } = server.address() as AddressInfo
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function reasonOf({ code, message }: NodeJS.ErrnoException, { port, path }: ListenOptions): string {
  if (path !== undefined) return pathReason(code) ?? message
  if (code === 'EADDRINUSE') return `port ${port} is in use; choose another, or 0 for any`
  if (code === 'EACCES') return `port ${port} may not be used by this user; choose one above 1023`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `this machine has no such address: ${message}`
  return message
}

function pathReason(code: string | undefined): string | undefined {
  // The same code stands for both here.
  if (code === 'EACCES' || code === 'ENOENT' || code === 'ENOTDIR')
    return 'the folder does not exist or may not be written to; create it, or choose another'
  return undefined
}
