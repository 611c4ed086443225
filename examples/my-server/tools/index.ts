import { defineTools, type ToolMap } from 'pierhead'
import { z } from 'zod'

const tools: ToolMap = defineTools({
  add: {
    description: 'Adds two numbers.',
    input: z.object({ a: z.number(), b: z.number() }),
    output: z.object({ sum: z.number() }),
    run: ({ a, b }) => ({ sum: a + b }),
  },
  greet: {
    description: 'Greets somebody.',
    input: z.object({ name: z.string() }),
    run: ({ name }) => `Hello, ${name}!`,
  },
})

export default tools
