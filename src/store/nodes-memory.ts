import type { JoinedNode, NodeInfo, NodeStore } from '../rpc/node-store.ts'
import type { Lifetime } from './lifetime.ts'
import { HIGHEST_NODE, REMEMBERED_MS } from './node-info.ts'

interface Member {
  readonly info: NodeInfo
  endsAt: number
}

/** Knows the nodes that reach this process, which keeps their stores. Every method answers at once. */
export class MemoryNodeStore implements NodeStore {
  readonly #lifetime: Lifetime
  /** In the order of their numbers, until these begin again. */
  readonly #members = new Map<number, Member>()
  readonly #secrets = new Map<string, string>()
  #last: number

  /** `last` is the number before the first one. */
  constructor(lifetime: Lifetime, last: number = 0) {
    this.#lifetime = lifetime
    this.#last = last
  }

  join(node: Omit<NodeInfo, 'number'>, leaseMs: number): JoinedNode {
    const now = this.#begin()
    for (const [number, { endsAt }] of this.#members)
      if (endsAt <= now - REMEMBERED_MS) this.#members.delete(number)
    const others = [...this.#members.values()]
      .filter(({ endsAt, info }) => endsAt > now && info.server === node.server)
      .map(({ info }) => info)
      .toSorted((one, two) => one.number - two.number)
    do this.#last = (this.#last % HIGHEST_NODE) + 1
    while (this.#members.has(this.#last))
    const info = { ...node, number: this.#last }
    this.#members.set(info.number, { info, endsAt: now + leaseMs })
    return { number: info.number, others }
  }

  beat(number: number, leaseMs: number): boolean {
    const now = this.#begin()
    const member = this.#members.get(number)
    if (member === undefined) return false
    const wasAlive = member.endsAt > now
    member.endsAt = now + leaseMs
    return wasAlive
  }

  leave(number: number): void {
    this.#begin()
    this.#members.delete(number)
  }

  isAlive(number: number): boolean {
    const now = this.#begin()
    return (this.#members.get(number)?.endsAt ?? 0) > now
  }

  secret(server: string, proposed: string): string {
    this.#begin()
    const known = this.#secrets.get(server)
    if (known !== undefined) return known
    this.#secrets.set(server, proposed)
    return proposed
  }

  #begin(): number {
    this.#lifetime.check()
    return performance.now()
  }
}
