import { encodedHeader } from './header-value.ts'
import { isObject, member, type Message } from './message.ts'
import type { Reply, RequestOptions, Session } from './session.ts'

/** How deep, and in how many schemas, arguments with headers are looked for. */
const MOST_LEVELS = 20
const MOST_SCHEMAS = 5_000

/** A call of a tool as it is sent. */
export interface ToolCall {
  readonly params: Message
  /** The headers that repeat arguments, at 2026-07-28. */
  readonly headers: Readonly<{ [name: string]: string }>
}

/** The parameters of a call and the headers that belong to them; `more` are further parameters, such as answers to questions. */
export function toolCall(session: Session, tool: Message, input: Message, more: Message = {}): ToolCall {
  return {
    params: { name: tool['name'], arguments: input, ...more },
    headers: session.isModern ? paramHeaders(tool, input) : {},
  }
}

/** Calls a tool with these arguments, and waits for the response. Never throws: what went wrong is in the reply. */
export function requestTool(
  session: Session,
  [tool, input, more]: readonly [tool: Message, input: Message, more?: Message],
  options: RequestOptions = {},
): Promise<Reply> {
  const { params, headers } = toolCall(session, tool, input, more)
  return session.request('tools/call', params, { ...options, headers: { ...headers, ...options.headers } })
}

/** The headers that repeat arguments of a tool, also those inside of others. */
export function paramHeaders(tool: Message, input: Message): Readonly<{ [name: string]: string }> {
  const headers = new Map<string, string>()
  let left = MOST_SCHEMAS
  const add = (schema: unknown, value: unknown, level: number): void => {
    if (level > MOST_LEVELS || left-- <= 0) return
    const header = member(schema, 'x-mcp-header')
    if (typeof header === 'string' && ['string', 'number', 'boolean'].includes(typeof value))
      headers.set(`mcp-param-${header}`, encodedHeader(String(value as string)))
    const properties = member(schema, 'properties')
    if (isObject(properties) && isObject(value))
      for (const [key, inner] of Object.entries(properties)) add(inner, member(value, key), level + 1)
  }
  add(tool['inputSchema'], input, 0)
  return Object.fromEntries(headers)
}
