// What the clients of the chaos test know of JSON-RPC and of our errors.

/** A message of the protocol. */
export type Message = Readonly<Record<string, unknown>>

/** The revision that clients with sessions speak, and what they can do. */
export const REVISION = '2025-11-25'
export const CAPABILITIES = { elicitation: { form: {} } }

/** A message in a few words. */
export function described(data: string): string {
  if (data === '') return ''
  const message = JSON.parse(data) as Message
  const params = (message['params'] ?? {}) as Message
  switch (message['method']) {
    case undefined:
      return 'response'
    case 'notifications/progress':
      return `progress ${String(params['progress'])}`
    case 'notifications/resources/updated':
      return `updated ${String(params['uri'])}`
    case 'notifications/tools/list_changed':
      return 'listed'
    default:
      return String(message['method'])
  }
}

/** The token of a progress notification, as a member of a line of the log. */
export function tokenOf(data: string): { readonly token?: string } {
  if (data === '') return {}
  const { method, params } = JSON.parse(data) as Message
  if (method !== 'notifications/progress') return {}
  return { token: String((params as Message | undefined)?.['progressToken']) }
}

/** Errors whose kind is not on the wire, by their text. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['the node that ran the request stopped before it answered', 'node_lost'],
  ['the store of the server cannot be reached now', 'store_unreachable'],
])

/** The kind of an error. */
export function kindOf({ message, data }: { readonly data?: Message; readonly message: string }): string {
  if (typeof data?.['kind'] === 'string') return data['kind']
  return KINDS.get(message) ?? message
}

/** The text of a result; undefined if it is an error. */
export function textOf(message: Message | undefined): string | undefined {
  const { content, isError } = (message?.['result'] ?? {}) as {
    readonly content?: readonly Message[]
    readonly isError?: boolean
  }
  if (isError === true) return undefined
  const text = content?.[0]?.['text']
  return typeof text === 'string' ? text : undefined
}

/** The message in a text; undefined if there is none. */
export function parsed(text: string): Message | undefined {
  try {
    return JSON.parse(text) as Message
  } catch {
    return undefined
  }
}

/** Resolves after a while. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
