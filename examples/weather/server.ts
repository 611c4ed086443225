import { createServer } from 'pierhead'
import * as z from 'zod'

const forecasts = { Lisbon: { high: 24, low: 16 }, Oslo: { high: 8, low: 2 } }

const app = createServer({ name: 'weather', version: '1.0.0' })

app.tool(
  'forecast',
  {
    description: 'Tomorrow’s weather for a city.',
    input: z.object({ city: z.enum(['Lisbon', 'Oslo']) }),
    output: z.object({ high: z.number(), low: z.number() }),
  },
  async ({ city }) => forecasts[city],
)

await app.listen()
