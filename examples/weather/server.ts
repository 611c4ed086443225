import { createServer } from 'pierhead'
import * as z from 'zod'
import { lookUp } from './look-up.ts'

const app = createServer({ name: 'weather', version: '1.0.0' })

app.tool(
  'forecast',
  {
    description: 'Tomorrow’s weather for a city.',
    input: z.object({ city: z.string() }),
    output: z.object({ high: z.number(), low: z.number() }),
  },
  async ({ city }) => lookUp(city),
)

await app.listen()
