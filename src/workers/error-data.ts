import { McpError } from '../errors/error.ts'

/** An error in a form that another process can read. */
export interface ErrorData {
  readonly message: string
  readonly name: string
  /** The code that Node gives its errors, such as EADDRINUSE. */
  readonly nodeCode?: string
  /** The members of an `McpError`. */
  readonly mcp?: Pick<McpError, 'kind' | 'code' | 'data' | 'refusal' | 'hint' | 'retryable' | 'retryAfterMs'>
  readonly cause?: ErrorData
}

/** How many causes of an error are kept. */
const CAUSES = 3

/** Describes whatever was thrown. */
export function errorToData(thrown: unknown, causes: number = CAUSES): ErrorData {
  if (!(thrown instanceof Error)) return { message: String(thrown), name: 'Error' }
  const { message, name, cause } = thrown
  return {
    message,
    name,
    ...('code' in thrown && { nodeCode: String(thrown.code) }),
    ...(thrown instanceof McpError && { mcp: membersOf(thrown) }),
    ...(cause !== undefined && causes > 0 && { cause: errorToData(cause, causes - 1) }),
  }
}

function membersOf({
  kind,
  code,
  data,
  refusal,
  hint,
  retryable,
  retryAfterMs,
}: McpError): NonNullable<ErrorData['mcp']> {
  // Data that cannot be copied to another process would end the call without an answer.
  const copied = data === undefined ? undefined : (JSON.parse(JSON.stringify(data)) as typeof data)
  return { kind, code, data: copied, refusal, hint, retryable, retryAfterMs }
}

/** Makes the error again. */
export function errorFrom(data: ErrorData): Error {
  const { message, name, nodeCode, mcp } = data
  const options = data.cause === undefined ? {} : { cause: errorFrom(data.cause) }
  if (mcp !== undefined) return new McpError(mcp.kind, message, { ...mcp, ...options })
  const error = new Error(message, options)
  return Object.assign(error, { name, ...(nodeCode !== undefined && { code: nodeCode }) })
}
