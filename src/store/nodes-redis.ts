import type { JoinedNode, NodeInfo, NodeStore } from '../rpc/node-store.ts'
import { HIGHEST_NODE, othersIn, REMEMBERED_MS } from './node-info.ts'
import type { RedisLink } from './redis-link.ts'
import { originalText, storedText } from './stored-text.ts'
import { wholeMs } from './times.ts'

const TAG = 'nodes'

/** Knows the nodes that share a Redis. */
export class RedisNodeStore implements NodeStore {
  readonly #link: RedisLink
  readonly #last: string
  readonly #ends: string
  readonly #nodes: string

  constructor(link: RedisLink) {
    this.#link = link
    this.#last = link.key(TAG, ':last')
    this.#ends = link.key(TAG, ':ends')
    this.#nodes = link.key(TAG, ':nodes')
  }

  async join(node: Omit<NodeInfo, 'number'>, leaseMs: number): Promise<JoinedNode> {
    const keys = [this.#last, this.#ends, this.#nodes]
    const values = [JSON.stringify(node), wholeMs(leaseMs), HIGHEST_NODE, REMEMBERED_MS]
    const reply = await this.#link.run('pierheadNodeJoin', keys, values, { isOnce: true })
    const [number, rows] = reply as readonly [number, readonly (readonly [string, string])[]]
    return { number, others: othersIn(rows, node.server) }
  }

  async beat(number: number, leaseMs: number): Promise<boolean> {
    return (await this.#link.run('pierheadNodeAlive', [this.#ends], [number, wholeMs(leaseMs)])) === 1
  }

  async leave(number: number): Promise<void> {
    await this.#link.run('pierheadNodeLeave', [this.#ends, this.#nodes], [number])
  }

  async isAlive(number: number): Promise<boolean> {
    return (await this.#link.run('pierheadNodeAlive', [this.#ends], [number])) === 1
  }

  async secret(server: string, proposed: string): Promise<string> {
    const key = this.#link.key(TAG, `:secret:${storedText(server)}`)
    return originalText(String(await this.#link.run('pierheadFirst', [key], [storedText(proposed)])))
  }
}
