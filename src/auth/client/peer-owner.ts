import { readFileSync } from 'node:fs'
import { endianness, release } from 'node:os'
import process from 'node:process'
import { readEnv } from '../../base/runtime.ts'

/** The two ends of a connection on this computer. A `Socket` is one. */
export interface Peer {
  readonly localAddress?: string | undefined
  readonly localPort?: number | undefined
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}

/** Finds the id of the user whose program is at the other end of a connection; undefined if it has hung up. */
export type PeerOwner = (peer: Peer) => number | undefined

/** The columns of the table of the system: the addresses of a socket and its peer, its state, its user and its inode. */
const ROW = /^\s*\d+: (\S+) (\S+) (\w\w) \S+ \S+ \S+ +(\d+) +\d+ +(\d+) /
const ESTABLISHED = '01'
const LISTENING = '0A'

/**
 * Prepares to find the owners of connections to a listener on this computer, in the table of sockets that Linux has. Undefined if there is
 * no such table, or if it does not even show the listener.
 */
export function findPeerOwner(
  { address, port }: { readonly address: string; readonly port: number },
  readTables: () => string | undefined = readSockets,
  order: 'BE' | 'LE' = endianness(),
): PeerOwner | undefined {
  const rows = (): Row[] => rowsOf(readTables() ?? '')
  const own = endOf(address, port, order)
  if (!rows().some(({ local, state }) => state === LISTENING && local === own)) return undefined
  return ({ localAddress, localPort, remoteAddress, remotePort }) => {
    const local = endOf(remoteAddress, remotePort, order)
    const remote = endOf(localAddress, localPort, order)
    // The system shows sockets whose program has closed them as those of root, so only open ones say something.
    const isPeer = (row: Row): boolean =>
      row.local === local && row.remote === remote && row.state === ESTABLISHED && row.inode !== '0'
    return rows().find(isPeer)?.uid
  }
}

/** The users who may take part in a login of this process: its own, root, and the one who became root with sudo. */
export function ownUsers(
  uid: number = process.getuid?.() ?? 0,
  sudo: string | undefined = readEnv('SUDO_UID'),
): readonly number[] {
  return uid === 0 && sudo !== undefined ? [0, Number(sudo)] : [uid, 0]
}

/** Whether this is Linux inside Windows, where the browser is a program of Windows, and each user has a machine of his own. */
export function isInsideWindows(): boolean {
  return process.platform === 'linux' && /microsoft/i.test(release())
}

interface Row {
  readonly local: string
  readonly remote: string
  readonly state: string
  readonly uid: number
  readonly inode: string
}

function readSockets(): string | undefined {
  if (process.platform !== 'linux' || isInsideWindows()) return undefined
  const texts = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => {
    try {
      return readFileSync(path, 'latin1')
    } catch {
      return ''
    }
  })
  return texts.join('\n')
}

function rowsOf(tables: string): Row[] {
  return tables.split('\n').flatMap((line) => {
    const [, local, remote, state, uid, inode] = ROW.exec(line) ?? []
    if (inode === undefined) return []
    return [{ local: plain(local!), remote: plain(remote!), state: state!, uid: Number(uid), inode }]
  })
}

/** IPv6 sockets may have IPv4 connections. */
function plain(end: string): string {
  return end.replace(/^0{16}(FFFF0000|0000FFFF)(?=\w{8}:)/, '')
}

/** An address and a port as the table spells them: words of four bytes in the order of the machine. Loopback addresses have one such word. */
function endOf(address: string = '', port: number = 0, order: 'BE' | 'LE'): string {
  const isV6 = address === '::1'
  const bytes = isV6
    ? [0, 0, 0, 1]
    : address
        .replace(/^::ffff:/, '')
        .split('.')
        .map(Number)
  const word = order === 'LE' ? bytes.toReversed() : bytes
  return `${isV6 ? '0'.repeat(24) : ''}${hex(word, 2)}:${hex([port], 4)}`
}

function hex(numbers: readonly number[], width: number): string {
  return numbers.map((number) => number.toString(16).toUpperCase().padStart(width, '0')).join('')
}
