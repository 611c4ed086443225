import type { AddressInfo, ListenOptions, Server } from 'node:net'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'

/** Starts listening; when that fails, the error says what to do about it. */
export function listening(server: Server, address: ListenOptions, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const { reason, hint } = problemOf(error, address)
      reject(mcpError(BAD_OPTION, { where: `listen on ${name}`, reason }, { cause: error, hint }))
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

/** What is wrong with an address, and what to do; without a hint of its own if only the system knows. */
interface Problem {
  readonly reason: string
  readonly hint?: string
}

function problemOf({ code, message }: NodeJS.ErrnoException, { port = 0, path }: ListenOptions): Problem {
  if (path !== undefined) return pathProblem(code) ?? { reason: message }
  if (code === 'EADDRINUSE')
    return {
      reason: `port ${port} is in use; choose another, or 0 for any`,
      hint: `Choose another port, such as ${(port % 65_535) + 1}, or end the program that uses this one.`,
    }
  if (code === 'EACCES')
    return {
      reason: `port ${port} needs more privileges than this user has; choose one above 1023`,
      hint: 'Choose a port above 1023, such as 8080, and let a proxy or the system forward the other one.',
    }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return {
      reason: `this machine has no such address: ${message}`,
      hint: "Use an address of this machine, such as host: '127.0.0.1'.",
    }
  return { reason: message }
}

function pathProblem(code: string | undefined): Problem | undefined {
  // The system reports both problems with these codes.
  if (code === 'EACCES' || code === 'ENOENT' || code === 'ENOTDIR')
    return {
      reason: 'the directory does not exist or is not writable; create it, or choose another',
      hint: 'Create the directory, or choose one that this user may write to.',
    }
  return undefined
}
