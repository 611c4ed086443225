import { createServer } from 'pierhead'
import * as z from 'zod'

// All processes have the same PIERHEAD_SECRET in their environment.
const app = createServer({ name: 'booking', version: '1.0.0' })

app.tool(
  'book',
  { description: 'Books a berth.', input: z.object({ berth: z.string() }) },
  async ({ berth }, ctx) => {
    const key = await ctx.once('key', () => crypto.randomUUID())
    const answer = await ctx.elicit('Which ship?', z.object({ ship: z.string() }))
    if (answer.action !== 'accept') return 'Nothing was booked.'
    ctx.progress(1, 1, 'booking')
    return `${berth} is booked for ${answer.content.ship} by ${process.pid}, key ${key}.`
  },
)

const { url } = await app.listen({
  http: { port: Number(process.env['PORT'] ?? 3000), hosts: ['mcp.example', '127.0.0.1'], sessions: false },
})
console.log(`listening on ${url}`)
