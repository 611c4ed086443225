import { mcpError } from '../errors/error.ts'
import { STORE_NOT_SHARED } from '../errors/store.ts'
import type { NodeInfo } from '../rpc/node-store.ts'

/** Separates a kind of store from the process that keeps it for others. */
const IN = '@'

/** Throws if a node does not share every kind of store with the others of its server. `own` are the kinds that it keeps in its memory. */
export function checkShared(server: string, own: readonly string[], others: readonly NodeInfo[]): void {
  const all = [own, ...others.map(({ inMemory }) => inMemory)]
  // Kinds in a parent process are shared by all that name the same one.
  const isShared = (kind: string): boolean => kind.includes(IN) && all.every((each) => each.includes(kind))
  const alone = all.flat().filter((kind) => !isShared(kind))
  const kinds = [...new Set(alone.map((kind) => kind.split(IN, 1)[0] as string))]
  if (others.length === 0 || kinds.length === 0) return
  const where = own.length > 0 ? 'this process' : 'the other process'
  throw mcpError(STORE_NOT_SHARED, { server, kinds: kinds.join(', '), where })
}
