import { endOfTurn, nextTurn } from '../base/turn.ts'
import { weigh } from '../base/weight.ts'
import { mcpError } from '../errors/error.ts'
import { CONNECTION_CLOSED } from '../errors/rpc.ts'
import type { ContentBlock } from '../protocol/content.ts'
import type { Call } from '../rpc/call.ts'
import { callOf, partsOf, type Context } from './context.ts'
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
 * the result unless the generator returns a value. Cancelling the request ends the generator, and so does a client that has left for good.
 */
export async function drain(generator: Generated, context: Context): Promise<unknown> {
  const call = callOf(context)
  const streams = progressToken(call) !== undefined
  const yielded = new Yielded(partsOf(context).limits.yieldedBytes)
  let end = endOfTurn()
  stopWithoutClient(call)
  try {
    for (;;) {
      // A generator that waits for nothing would keep the process from others, and what it yields from being sent.
      if (performance.now() > end) end = await nextTurn()
      if (call.aborted) throw context.signal.reason
      const step = await generator.next()
      if (step.done === true) return step.value === undefined ? yielded.content() : step.value
      const blocks = toContent(step.value)
      yielded.add(blocks)
      if (streams) context.progress(yielded.count, undefined, messageOf(blocks), blocks)
      // A client that gets each block as progress may need no result.
      else yielded.content()
    }
  } finally {
    await generator.return(undefined)
  }
}

/** Cancels a call when nobody can read its response any more; what a generator yields is kept only for that. */
function stopWithoutClient(call: Call): void {
  const { channel, method } = call
  channel.onLeft?.(() => {
    // A task goes on without the request.
    if (!call.ended && call.channel === channel) call.cancel(mcpError(CONNECTION_CLOSED, { method }))
  })
}

/** The blocks that a generator has yielded, as long as they are within a limit. */
class Yielded {
  readonly #limit: number
  #blocks: ContentBlock[] = []
  #bytes = 0
  count = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  add(blocks: readonly ContentBlock[]): void {
    this.count += blocks.length
    if (this.#bytes <= this.#limit) this.#bytes += weigh(blocks, this.#limit + 1)
    if (this.#bytes <= this.#limit) for (const block of blocks) this.#blocks.push(block)
    else this.#blocks = []
  }

  /** All of them. Throws if they exceeded the limit. */
  content(): readonly ContentBlock[] {
    if (this.#bytes <= this.#limit) return this.#blocks
    throw new RangeError(
      `the generator yielded more than limits.yieldedBytes, ${this.#limit} bytes; yield less, or return a value in the end`,
    )
  }
}

function messageOf(blocks: readonly ContentBlock[]): string | undefined {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  return texts.length === 0 ? undefined : texts.join('\n')
}
