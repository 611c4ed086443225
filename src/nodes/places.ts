import { mcpError } from '../errors/error.ts'
import { STORE_DIFFERS } from '../errors/store.ts'
import type { JoinedNode, NodeInfo, NodeStore } from '../rpc/node-store.ts'

/** What identifies the store of each kind; undefined if nothing does. */
type Places = Readonly<Record<string, string | undefined>>

/**
 * A registry in which a node also says where it keeps things. `places` is asked whenever it joins. Joining fails if another node keeps some
 * kind of thing elsewhere: what one of them stored, the other would not find.
 */
export function withPlaces(nodes: NodeStore, places: () => Promise<Places>): NodeStore {
  return {
    async join(node, leaseMs): Promise<JoinedNode> {
      const own = Object.entries(await places()).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      )
      const joined = await nodes.join(
        { ...node, ...(own.length > 0 && { places: Object.fromEntries(own) }) },
        leaseMs,
      )
      const kinds = own
        .filter((entry) => joined.others.some((other) => differs(other, entry)))
        .map(([kind]) => kind)
      if (kinds.length === 0) return joined
      await nodes.leave(joined.number)
      throw mcpError(STORE_DIFFERS, { server: node.server, kinds: kinds.join(', ') })
    },
    beat: (number, leaseMs) => nodes.beat(number, leaseMs),
    leave: (number) => nodes.leave(number),
    isAlive: (number) => nodes.isAlive(number),
    secret: (server, proposed) => nodes.secret(server, proposed),
  }
}

function differs({ places }: NodeInfo, [kind, place]: readonly [string, string]): boolean {
  const theirs = places?.[kind]
  return theirs !== undefined && theirs !== place
}
