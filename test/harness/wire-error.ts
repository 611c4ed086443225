/** An error reply that was received, or is to be sent. */
export class WireError extends Error {
  readonly code: number
  readonly data: unknown

  constructor({
    code,
    message,
    data,
  }: {
    readonly code: number
    readonly message: string
    readonly data?: unknown
  }) {
    super(message)
    this.code = code
    this.data = data
  }

  override get name(): string {
    return 'WireError'
  }
}

/** The error reply to a request. */
export async function refusal(request: Promise<unknown>): Promise<WireError> {
  try {
    await request
  } catch (thrown) {
    if (thrown instanceof WireError) return thrown
    throw thrown
  }
  throw new Error('the request succeeded')
}
