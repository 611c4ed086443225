/** A JSON-RPC message, or what a peer sent in its place. */
export type Message = Readonly<Record<string, unknown>>

/** Something that a peer sent: one line, frame, event or body. */
export interface Received {
  /** The text as it came, cut off after the limit of the trace. */
  readonly text: string
  /** The parsed text; undefined if it is not JSON. */
  readonly value: unknown
  /** The messages in it: none if it is not one, several in a batch. */
  readonly messages: readonly Message[]
  /** The stream that it came on: one for a connection, one for each reply over HTTP. */
  readonly stream: string
  /** Its place among everything that was sent and received. */
  readonly at: number
  /** The id of the event, over HTTP. */
  readonly eventId?: string | undefined
}

export function isObject(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member of an object, or undefined if it is something else. */
export function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value
  for (const key of path) {
    if (!isObject(found) || !Object.hasOwn(found, key)) return undefined
    found = found[key]
  }
  return found
}

export function isRequest(message: Message): boolean {
  return typeof message['method'] === 'string' && Object.hasOwn(message, 'id')
}

export function isNotification(message: Message): boolean {
  return typeof message['method'] === 'string' && !Object.hasOwn(message, 'id')
}

export function isResponse(message: Message): boolean {
  return (
    !Object.hasOwn(message, 'method') && (Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error'))
  )
}

/** The messages in a parsed text. */
export function messagesIn(value: unknown): readonly Message[] {
  if (isObject(value)) return [value]
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The parsed text, or undefined if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
