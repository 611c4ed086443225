import { setTimeout as pause } from 'node:timers/promises'
import { defineTools } from 'pierhead'
import * as z from 'zod'

export const { report } = defineTools({
  report: {
    description: 'Writes a report, page by page.',
    input: z.object({ pages: z.number().int().min(1).max(100).describe('How many pages it has.') }),
    output: z.object({ pages: z.number(), words: z.number() }),
    hints: { idempotent: true },
    // A call becomes a task if it takes longer than 2 s. Its client may leave, and come back for the result.
    task: { mode: 'optional', ttl: '1h', retries: 2 },
    run: async ({ pages }, { progress, once, signal }) => {
      let words = 0
      for (let page = 1; page <= pages; page++) {
        // A page that is finished is not written again, even after a restart.
        words += await once(`page ${page}`, () => write(page, signal))
        progress(page, pages, `page ${page} of ${pages}`)
      }
      return { pages, words }
    },
  },
})

async function write(page: number, signal: AbortSignal): Promise<number> {
  await pause(500, undefined, { signal })
  return 100 + page
}
