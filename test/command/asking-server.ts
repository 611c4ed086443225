// A server over stdio with a tool that asks its user.
import { createServer } from 'pierhead'

const app = createServer({ name: 'asking', version: '1.0.0' })

app.tool('order', {}, async (_, ctx) => {
  const answer = await ctx.elicit('What do you want?', {
    type: 'object',
    properties: {
      count: { type: 'integer', title: 'How many', minimum: 1 },
      colour: { type: 'string', title: 'What colour', enum: ['red', 'blue'] },
    },
    required: ['count', 'colour'],
  })
  return answer.action === 'accept' ? `ordered ${JSON.stringify(answer.content)}` : answer.action
})

await app.listen()
