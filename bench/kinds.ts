/** The kind of the handler of `add`: what it returns, and whether it is asynchronous. */
export interface HandlerKind {
  /** Its name in the options of the subjects. */
  readonly handler: 'text' | 'content' | 'async' | 'socket'
  /** What it adds to the name of a workload, and to the titles of its rows. */
  readonly suffix: string
  readonly title: string
  readonly isAsync: boolean
}

/** Returns a string, where the library accepts one. */
export const TEXT: HandlerKind = { handler: 'text', suffix: '', title: '', isAsync: false }

/** Returns a content object. */
export const CONTENT: HandlerKind = {
  handler: 'content',
  suffix: '-content',
  title: ', content object',
  isAsync: false,
}

/** An async function that awaits nothing and returns a content object. */
export const ASYNC: HandlerKind = {
  handler: 'async',
  suffix: '-async',
  title: ', async handler',
  isAsync: true,
}

/** An async function that awaits a round trip over a socket and returns a content object. */
export const SOCKET: HandlerKind = {
  handler: 'socket',
  suffix: '-socket',
  title: ', async handler that awaits a socket',
  isAsync: true,
}

export const KINDS: readonly HandlerKind[] = [TEXT, CONTENT, ASYNC, SOCKET]
