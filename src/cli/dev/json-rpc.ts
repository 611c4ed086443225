/** A message of JSON-RPC, as far as a relay looks at it. */
export interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: unknown
}

/** The messages of a line: one, or those of a batch; undefined if it has none. */
export function messagesIn(line: string): readonly Message[] | undefined {
  try {
    const value = JSON.parse(line) as unknown
    const all = Array.isArray(value) ? (value as readonly unknown[]) : [value]
    const isGood = all.length > 0 && all.every((one) => typeof one === 'object' && one !== null)
    return isGood ? (all as readonly Message[]) : undefined
  } catch {
    return undefined
  }
}

/** A message with this member is a request; without an id it is a notification. */
export function isRequest({ id, method }: Message): boolean {
  return typeof method === 'string' && id !== undefined
}

export function isResponse({ id, method }: Message): boolean {
  return method === undefined && id !== undefined
}

/** The number 1 and the text "1" are two ids. */
export function keyOf(id: unknown): string {
  return `${typeof id} ${String(id)}`
}

export const CANCELLED = 'notifications/cancelled'
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
export const LISTEN = 'subscriptions/listen'

/** The stream that a notification belongs to. */
export function subscriptionOf({ params }: Message): unknown {
  const meta = params?.['_meta'] as Readonly<Record<string, unknown>> | undefined
  return meta?.['io.modelcontextprotocol/subscriptionId']
}
