import { options } from './options.mjs'

/**
 * The handler of `add` of a kind: `text` returns a string, `content` a content object, `async` does the same in an async
 * function that awaits nothing, and `socket` in one that awaits a round trip over a socket.
 */
export async function handlerOf(kind) {
  if (kind === 'text') return ({ a, b }) => String(a + b)
  if (kind === 'content') return addNow
  if (kind === 'async') return async (input) => addNow(input)
  if (kind !== 'socket') throw new Error(`there is no handler of the kind ${kind}`)
  const { roundTrip } = await import('./echo.mjs')
  return async ({ a, b }) => contentOf(await roundTrip(String(a + b)))
}

/** The handler of `add`, for servers that accept a string as the result. */
export const add = await handlerOf(options.handler)

/** The handler of `add`, for servers that need a content object. */
export const addContent = options.handler === 'text' ? addNow : add

/** Whether the handler returns a promise. */
export const isAsync = options.handler === 'async' || options.handler === 'socket'

function addNow({ a, b }) {
  return contentOf(String(a + b))
}

/** A result with one text. */
export function contentOf(text) {
  return { content: [{ type: 'text', text }] }
}
