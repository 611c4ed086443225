import { isObject } from '../protocol/jsonrpc.ts'
import type { NodeInfo } from '../rpc/node-store.ts'

/** The highest number of a node; after it, numbers begin again with 1. */
export const HIGHEST_NODE = 2_000_000

/** How long a dead node is remembered, which may live again. */
export const REMEMBERED_MS: number = 24 * 60 * 60 * 1000

/** The nodes of a server in rows of numbers and JSON, in order. A row that cannot be read is left out. */
export function othersIn(
  rows: readonly (readonly [number: unknown, json: unknown])[],
  server: string,
): readonly NodeInfo[] {
  const nodes = rows.flatMap(([number, json]) => {
    const node = parsed(json)
    return node?.server === server ? [{ ...node, number: Number(number) }] : []
  })
  return nodes.toSorted((one, two) => one.number - two.number)
}

function parsed(json: unknown): Omit<NodeInfo, 'number'> | undefined {
  try {
    const { server, inMemory, places } = JSON.parse(String(json)) as Partial<NodeInfo>
    if (typeof server !== 'string' || !Array.isArray(inMemory)) return undefined
    return { server, inMemory: inMemory.map(String), ...(isObject(places) && { places }) }
  } catch {
    return undefined
  }
}
