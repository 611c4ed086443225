import { createServer } from 'pierhead'
import { about, options } from './options.mjs'

const { addInput, wideTools } = await import(`./${options.schema}-tools.mjs`)

/** Our server, from the built package. */
export const app = createServer({ ...about, pageSize: 100_000 })
if (options.add)
  app.tool('add', { description: 'Adds two numbers.', input: addInput }, ({ a, b }) => String(a + b))
for (const { name, description, input } of wideTools) app.tool(name, { description, input }, () => 'filed')
