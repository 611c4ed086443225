import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { connect, type Server } from 'node:net'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import type { Door } from './server.ts'
import { authorityOf, listening } from '../io/listening.ts'

/** The longest path of a socket file; the system silently truncates longer ones. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/** Listens on a port. */
export function portDoor(host: string, port: number, { tls, framing }: Pick<Door, 'tls' | 'framing'>): Door {
  return {
    tls,
    framing,
    async open(server) {
      await listening(server, { host, port }, `${host}:${port}`)
      return `${tls === undefined ? 'tcp' : 'tls'}://${authorityOf(host, server)}`
    },
  }
}

/**
 * Listens on a socket file with the given permissions, which decide who can connect and therefore has all scopes by
 * default. The file is removed when the server closes.
 */
export function fileDoor(
  path: string,
  mode: number,
  { framing, scopes }: Pick<Door, 'framing' | 'scopes'>,
): Door {
  const file = resolve(path)
  if (Buffer.byteLength(file) > MAX_PATH_BYTES) {
    const reason = `the path is longer than ${MAX_PATH_BYTES} bytes, the most a socket allows; choose a shorter one`
    throw mcpError(BAD_OPTION, { where: `listen on ${file}`, reason })
  }
  return {
    tls: undefined,
    framing,
    scopes: scopes ?? 'all',
    async open(server) {
      await clear(file)
      await listenOn(server, file, mode)
      return `unix:${pathToFileURL(file).pathname}`
    },
  }
}

async function listenOn(server: Server, file: string, mode: number): Promise<void> {
  const restore = narrow(mode)
  try {
    // This call creates the file synchronously.
    const open = listening(server, { path: file }, file)
    restore()
    await open
  } finally {
    restore()
  }
  chmodSync(file, mode)
}

/** Limits the permissions of new files until restored. Does nothing where the umask cannot be set. */
function narrow(mode: number): () => void {
  try {
    const before = process.umask(0o777 & ~mode)
    return () => void process.umask(before)
  } catch {
    return () => undefined
  }
}

/** Removes a stale socket file; throws when the file is not a socket or a server listens on it. */
async function clear(file: string): Promise<void> {
  const where = `listen on ${file}`
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket())
    throw mcpError(BAD_OPTION, {
      where,
      reason: 'the file exists and is not a socket; remove it or choose another path',
    })
  if (await answers(file))
    throw mcpError(BAD_OPTION, {
      where,
      reason: 'a server is already listening there; stop it or choose another path',
    })
  unlinkSync(file)
}

function answers(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(file)
    const done = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => done(true))
    // Only these codes prove that nothing listens; a permission error, for example, does not.
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      done(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    )
  })
}
