import { createServer, type App } from 'pierhead'
import { z } from 'zod'
import { heightAt } from './tides.ts'

const app: App = createServer({ name: 'tides', version: '1.0.0' })

app.tool(
  'tide',
  { description: 'The height of the tide in metres.', input: z.object({ hour: z.number().min(0).max(24) }) },
  async ({ hour }) => `${await heightAt(hour)} m`,
)

export default app
