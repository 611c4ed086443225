import type { App } from 'pierhead'
import type { World } from './app-tools.ts'

const PERSON = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', minLength: 1 },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    member: { type: 'boolean', default: true },
    size: {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
    },
    tags: { type: 'array', items: { type: 'string', enum: ['red', 'green'] } },
  },
  required: ['name', 'size', 'tags'],
} as const
const YES = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] } as const

/** Tools that need something from the client before they can answer. */
export function addQuestions(app: App, world: World): void {
  app.tool('register', {}, async (_, { elicit }) => JSON.stringify(await elicit('Who are you?', PERSON)))
  app.tool('pay', {}, async (_, { elicitUrl }) => {
    const { action, complete } = await elicitUrl('Pay here', 'https://example.com/pay')
    complete()
    return action
  })
  app.tool('joke', {}, async (_, { sample }) => {
    const answer = await sample({
      messages: [{ role: 'user', content: 'Tell a joke' }],
      maxTokens: 50,
      systemPrompt: 'Be brief',
      temperature: 0.5,
      stopSequences: ['END'],
      modelPreferences: { hints: [{ name: 'small' }], speedPriority: 1 },
    })
    return JSON.stringify(answer)
  })
  app.tool('plan', {}, async (_, { sample }) => {
    const answer = await sample({
      messages: [{ role: 'user', content: 'What is the weather?' }],
      maxTokens: 50,
      tools: [{ name: 'weather', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } }],
      toolChoice: { mode: 'required' },
    })
    return JSON.stringify(answer.content)
  })
  app.tool('folders', {}, async (_, { roots }) => JSON.stringify(await roots()))
  app.tool('survey', {}, async (_, ctx) => {
    const [yes, joke, roots] = await Promise.all([
      ctx.elicit('Really?', YES, { key: 'sure' }),
      ctx.sample({ messages: [{ role: 'user', content: 'Say hi' }], maxTokens: 5 }, { key: 'hi' }),
      ctx.roots({ key: 'where' }),
    ])
    return JSON.stringify([yes, joke.content, roots])
  })
  app.tool('twice', {}, async (_, ctx) => {
    const before = world.made
    const mine = await ctx.once('number', () => ++world.made)
    const first = await ctx.elicit('First?', YES)
    const second = await ctx.elicit('Second?', YES)
    const steps = [first, second].map(({ action, content }) => content?.yes ?? action)
    return JSON.stringify({ steps, madeOnce: world.made === mine && before >= mine - 1 })
  })
  app.prompt(
    'ask',
    {},
    async (_, ctx) => `It is ${(await ctx.elicit('Yes or no?', YES)).content?.yes === true ? 'yes' : 'no'}.`,
  )
}
