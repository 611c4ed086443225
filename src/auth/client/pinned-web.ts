import type { Pinned } from './open-reply.ts'

/** Runtimes without sockets connect through `fetch` alone, which does not tell addresses. */
export const pinned: Pinned | undefined = undefined
