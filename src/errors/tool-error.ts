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
