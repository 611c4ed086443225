import { createServer, type Running } from 'pierhead'
import { connect } from 'pierhead/client'
import { z } from 'zod'

const TIDES: ReadonlyMap<string, { readonly high: string; readonly metres: number }> = new Map([
  ['Brest', { high: '04:10', metres: 6.2 }],
  ['Saint-Malo', { high: '06:25', metres: 11.1 }],
  ['Porto', { high: '03:05', metres: 3.1 }],
])
const UNKNOWN = { high: 'unknown', metres: 0 }

/** A server whose type includes its tools. */
const app = createServer({ name: 'tides', version: '1.0.0' })
  .tool(
    'next',
    {
      description: 'The next high tide.',
      input: z.object({ harbour: z.string() }),
      output: z.object({ high: z.string(), metres: z.number() }),
    },
    ({ harbour }) => TIDES.get(harbour) ?? UNKNOWN,
  )
  .tool('harbours', { description: 'All harbours.', output: z.array(z.string()) }, () => [...TIDES.keys()])

/** Serves the tides. */
export function serve(): Promise<Running> {
  return app.listen({ http: { port: 0 } })
}

/** Finds the harbour with the highest tide. */
export async function highest(url: string): Promise<string> {
  await using client = await connect<typeof app>(url)
  let best = { harbour: '', metres: -Infinity }
  for (const harbour of await client.call('harbours')) {
    const { metres } = await client.call('next', { harbour })
    if (metres > best.metres) best = { harbour, metres }
  }
  return best.harbour
}
