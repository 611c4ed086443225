/** A failure that the model should read: its message, and its data if any, become the tool's result. */
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
