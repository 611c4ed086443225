import { McpError } from './error.ts'

/**
 * A failure for the model to read: its message and data become the tool's result. Throw it in a handler; `client.call` throws it
 * when a tool failed. Errors of other classes, except `McpError`, are masked unless the server has `errors: 'show'`.
 *
 * @example
 * app.tool('book', { input: z.object({ berth: z.number() }) }, ({ berth }) => {
 *   if (taken.has(berth)) throw new ToolError(`berth ${berth} is taken`, { free: [3, 4] })
 *   …
 * })
 */
export class ToolError extends Error {
  /** Details, which the model gets as JSON and a Pierhead client as this object; undefined if there are none. */
  readonly data: Readonly<Record<string, unknown>> | undefined

  /**
   * Creates a failure. `message` is for the model, so say what to do differently; `data` is by default none, and `options` takes a
   * `cause`, which stays in the process. In a client, the cause of a received failure is the complete result.
   */
  constructor(message: string, data?: Readonly<Record<string, unknown>>, options?: ErrorOptions) {
    super(message, options)
    this.data = data
  }

  /** Always `ToolError`, also in minified programs. */
  override get name(): string {
    return 'ToolError'
  }
}

/** The error for the peer, where no tool can show it to the model. */
export function toMcpError(error: ToolError): McpError {
  const { message, data } = error
  return new McpError('internal', message, { cause: error, retryable: false, ...(data && { data }) })
}
