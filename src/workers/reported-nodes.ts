import type { NodeStore } from '../rpc/node-store.ts'

/** What a worker tells its parent about the nodes that it is. */
export interface NodeReports {
  joined(number: number): void
  left(number: number): void
}

/** A registry of nodes that reports which of them are this process, whatever keeps it. So the parent can say which nodes died with the process. */
export function reportedNodes(nodes: NodeStore, { joined, left }: NodeReports): NodeStore {
  return {
    async join(...args) {
      const added = await nodes.join(...args)
      joined(added.number)
      return added
    },
    async leave(number) {
      await nodes.leave(number)
      left(number)
    },
    beat: (...args) => nodes.beat(...args),
    isAlive: (number) => nodes.isAlive(number),
    secret: (...args) => nodes.secret(...args),
  }
}
