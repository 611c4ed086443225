/** The schema of the tool `add`. */
export const addInput = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
}

/** The schema of tools that take a text. */
export const textInput = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
}

/** `count` tools with ten fields each: their names, descriptions and schemas. */
export function wideToolsOf(count) {
  return Array.from({ length: count }, (_, index) => ({
    name: `wide-${index}`,
    description: `Files order number ${index} with everything known about it.`,
    input: wideInput(index),
  }))
}

function wideInput(index) {
  const words = (minLength, maxLength, description) => ({ type: 'string', minLength, maxLength, description })
  return {
    type: 'object',
    properties: {
      customer: words(1, 80, 'Who ordered'),
      street: words(1, 120, 'Street and house number'),
      city: words(1, 80, 'City of delivery'),
      postcode: words(4, 10, 'Postal code of delivery'),
      quantity: { type: 'integer', minimum: 1, maximum: 1000 + index, description: 'How many pieces' },
      price: { type: 'number', minimum: 0, maximum: 100000, description: 'Price of one piece' },
      express: { type: 'boolean', description: 'Whether it is sent by express' },
      channel: { type: 'string', enum: ['shop', 'phone', 'web'], description: 'Where the order came from' },
      labels: {
        type: 'array',
        items: { type: 'string' },
        maxItems: 10,
        description: 'Labels for the warehouse',
      },
      remark: words(0, 500, 'Anything else'),
    },
    required: ['customer', 'street', 'city', 'postcode', 'quantity', 'price', 'express', 'channel'],
  }
}
