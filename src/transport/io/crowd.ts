import { networkOf, readAddress } from '../../base/address.ts'
import { Owners } from './owners.ts'

/** The part of its connections that a network loses at a time while the server needs memory. */
const SHED_PART = 1 / 4

/** As much of a socket as is needed here. */
interface Socket {
  readonly remoteAddress?: string | undefined
  once(event: 'close', listener: () => void): unknown
  destroy(): unknown
}

interface Member {
  readonly countedFor: string
  end(): void
}

/** The open connections of a port by network, so that no single one can take all places. */
export class Crowd {
  readonly #owners = new Owners<Member>()

  /** Adds a connection and returns a function that removes it. `end` closes it if another network needs its place. */
  add(ip: string | undefined, end: () => void): () => void {
    const member = { countedFor: toKey(ip), end }
    this.#owners.add(member)
    return () => this.#owners.delete(member)
  }

  /** Adds a socket until it closes; false if all places are taken and no other gives way. */
  admit(socket: Socket, isFull: boolean): boolean {
    const ip = readAddress(socket.remoteAddress)
    if (isFull && !this.makeRoom(ip)) return false
    const leave = this.add(ip, () => socket.destroy())
    socket.once('close', leave)
    return true
  }

  /** Ends the oldest connections of the network with the most, because the server needs memory. Returns how many. */
  shed(): number {
    const items = [...this.#owners.largest('').items]
    const ended = items.slice(0, Math.ceil(items.length * SHED_PART))
    for (const member of ended) {
      this.#owners.delete(member)
      member.end()
    }
    return ended.length
  }

  /** Ends the newest connection of the network with the most, if it has far more than that of the newcomer; false if not. */
  makeRoom(ip: string | undefined): boolean {
    const { items, isLarge } = this.#owners.largest(toKey(ip))
    if (!isLarge) return false
    const newest = [...items].at(-1)
    if (newest === undefined) return false
    this.#owners.delete(newest)
    newest.end()
    return true
  }
}

function toKey(ip: string | undefined): string {
  return ip === undefined ? '' : networkOf(ip)
}
