import * as z from 'zod'

/** The schema of the tool `add`. */
export const addInput = z.object({ a: z.number(), b: z.number() })

/** The schema of tools that take a text. */
export const textInput = z.object({ text: z.string() })

/** `count` tools with ten fields each: their names, descriptions and schemas. */
export function wideToolsOf(count) {
  return Array.from({ length: count }, (_, index) => ({
    name: `wide-${index}`,
    description: `Files order number ${index} with everything known about it.`,
    input: wideInput(index),
  }))
}

function wideInput(index) {
  return z.object({
    customer: z.string().min(1).max(80).describe('Who ordered'),
    street: z.string().min(1).max(120).describe('Street and house number'),
    city: z.string().min(1).max(80).describe('City of delivery'),
    postcode: z.string().min(4).max(10).describe('Postal code of delivery'),
    quantity: z
      .number()
      .int()
      .min(1)
      .max(1000 + index)
      .describe('How many pieces'),
    price: z.number().min(0).max(100000).describe('Price of one piece'),
    express: z.boolean().describe('Whether it is sent by express'),
    channel: z.enum(['shop', 'phone', 'web']).describe('Where the order came from'),
    labels: z.array(z.string()).max(10).optional().describe('Labels for the warehouse'),
    remark: z.string().max(500).optional().describe('Anything else'),
  })
}
