export interface Tenant {
  readonly id: string
  readonly plan: 'free' | 'paid'
}

export interface Order {
  readonly id: string
  readonly title: string
  readonly lines: Readonly<Record<string, string>>
}

const ORDERS: readonly Order[] = [
  { id: '7', title: 'Late rope', lines: { '1': 'rope, 20 m', 'notes/late': 'promised for Friday' } },
  { id: '8', title: 'Late paint', lines: { '1': 'paint, 5 l' } },
  { id: '71', title: 'Anchor', lines: { '1': 'anchor, 12 kg' } },
]

/** The caller; unauthenticated callers are on the free plan. */
export async function tenantOf(auth: { readonly sub?: string | undefined } | undefined): Promise<Tenant> {
  return auth?.sub === undefined ? { id: 'guest', plan: 'free' } : { id: auth.sub, plan: 'paid' }
}

/** Yields the orders whose title contains the text. */
export async function* find(
  q: string,
  { mode = 'fast', signal }: { readonly mode?: 'fast' | 'deep' | undefined; readonly signal: AbortSignal },
): AsyncGenerator<Order, void> {
  for (const order of ORDERS) {
    signal.throwIfAborted()
    const text = mode === 'deep' ? JSON.stringify(order) : order.title
    if (text.toLowerCase().includes(q.toLowerCase())) yield order
  }
}

/** A line of an order, or undefined. */
export function load(id: string, path: string): { readonly id: string; readonly line: string } | undefined {
  const line = ORDERS.find((order) => order.id === id)?.lines[path]
  return line === undefined ? undefined : { id, line }
}

export function idsStartingWith(value: string): readonly string[] {
  return ORDERS.map(({ id }) => id).filter((id) => id.startsWith(value))
}

/** The lines of an order; none if its id is not known yet. */
export function pathsStartingWith(value: string, id: string | undefined): readonly string[] {
  const lines = ORDERS.find((order) => order.id === id)?.lines ?? {}
  return Object.keys(lines).filter((path) => path.startsWith(value))
}

/** Amounts reserved for refunds, by hold. */
export const holds: Map<string, string> = new Map()

export async function reserve(id: string): Promise<string> {
  const hold = `hold-${holds.size + 1}`
  holds.set(hold, id)
  return hold
}

export function release(hold: string): string {
  holds.delete(hold)
  return 'Nothing was refunded'
}

/** How many of an item are left. */
export function stockOf(item: string): number {
  if (!STOCK.has(item)) throw new RangeError(`no such item: ${item}`)
  return STOCK.get(item) as number
}

const STOCK: ReadonlyMap<string, number> = new Map([
  ['rope', 12],
  ['anchor', 0],
])
