import { McpError } from './error.ts'

/** A failure for the model to read: its message and data become the tool's result. */
export class ToolError extends Error {
  readonly data: Readonly<Record<string, unknown>> | undefined

  constructor(message: string, data?: Readonly<Record<string, unknown>>, options?: ErrorOptions) {
    super(message, options)
    this.data = data
  }

  override get name(): string {
    return 'ToolError'
  }
}

/** The error for the peer, where no tool can show it to the model. */
export function toMcpError(error: ToolError): McpError {
  const { message, data } = error
  return new McpError('internal', message, { cause: error, retryable: false, ...(data && { data }) })
}
