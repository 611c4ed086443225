import { endOfTurn, nextTurn } from '../base/turn.ts'
import type { ContentBlock } from '../protocol/content.ts'
import { callOf, type Context } from './context.ts'
import { progressToken } from './progress.ts'
import { toContent } from './reply.ts'

type Generated = Generator<unknown, unknown> | AsyncGenerator<unknown, unknown>

export function isGenerator(value: unknown): value is Generated {
  if (typeof value !== 'object' || value === null) return false
  if (!('next' in value) || typeof value.next !== 'function') return false
  return Symbol.asyncIterator in value || Symbol.iterator in value
}

/**
 * Runs a generator to its end. Yielded values are sent as progress if the client asked for it, and become the content of
 * the result unless the generator returns a value. Cancelling the request ends the generator.
 */
export async function drain(generator: Generated, context: Context): Promise<unknown> {
  const content: ContentBlock[] = []
  const streams = progressToken(callOf(context)) !== undefined
  let end = endOfTurn()
  try {
    for (;;) {
      // A generator that waits for nothing would keep the process from others, and what it yields from being sent.
      if (performance.now() > end) end = await nextTurn()
      if (callOf(context).aborted) throw context.signal.reason
      const step = await generator.next()
      if (step.done === true) return step.value === undefined ? content : step.value
      const blocks = toContent(step.value)
      content.push(...blocks)
      if (streams) context.progress(content.length, undefined, messageOf(blocks), blocks)
    }
  } finally {
    await generator.return(undefined)
  }
}

function messageOf(blocks: readonly ContentBlock[]): string | undefined {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  return texts.length === 0 ? undefined : texts.join('\n')
}
