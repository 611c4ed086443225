import { defineTools } from 'pierhead'
import * as z from 'zod'

export const { add } = defineTools({
  add: {
    description: 'Adds two numbers.',
    input: z.object({
      a: z.number().describe('The first number.'),
      b: z.number().describe('The second number.'),
    }),
    output: z.object({ sum: z.number() }),
    hints: { readOnly: true, idempotent: true },
    run: ({ a, b }) => ({ sum: a + b }),
  },
})
