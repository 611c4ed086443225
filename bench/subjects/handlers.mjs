import { options } from './options.mjs'

/**
 * The handler of `add` of a kind: `text` returns a string, `content` a content object, `async` does the same in an async
 * function that awaits nothing, `burn` in one that first uses the CPU for 2 ms, and `socket` in one that awaits a round trip over a socket.
 */
export async function handlerOf(kind) {
  if (kind === 'text') return ({ a, b }) => String(a + b)
  if (kind === 'content') return addNow
  if (kind === 'async') return async (input) => addNow(input)
  if (kind === 'burn')
    return async (input) => {
      burn(BURNT_MS)
      return addNow(input)
    }
  if (kind !== 'socket') throw new Error(`there is no handler of the kind ${kind}`)
  const { roundTrip } = await import('./echo.mjs')
  return async ({ a, b }) => contentOf(await roundTrip(String(a + b)))
}

const BURNT_MS = 2

/** The handler of `add`, for servers that accept a string as the result. */
export const add = await handlerOf(options.handler)

/** The handler of `add`, for servers that need a content object. */
export const addContent = options.handler === 'text' ? addNow : add

/** Whether the handler returns a promise. */
export const isAsync = ['async', 'burn', 'socket'].includes(options.handler)

/** Uses the CPU for so many milliseconds of it, however long that takes when other processes use it, too. */
function burn(ms) {
  const begun = process.cpuUsage()
  let used
  do {
    for (let count = 0; count < 1000; count++) Math.sqrt(count)
    used = process.cpuUsage(begun)
  } while (used.user + used.system < ms * 1000)
}

function addNow({ a, b }) {
  return contentOf(String(a + b))
}

/** A result with one text. */
export function contentOf(text) {
  return { content: [{ type: 'text', text }] }
}
