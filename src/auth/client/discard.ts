import type { AuthReply } from '../../transport/http/client/auth-method.ts'

/** Ends a reply that nobody reads. */
export async function discard({ body }: AuthReply): Promise<void> {
  // A body that is already broken needs no cancelling.
  await body?.cancel().catch(() => undefined)
}
