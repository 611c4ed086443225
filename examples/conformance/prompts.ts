import { embed, image, text, type App } from 'pierhead'
import { PNG } from './media.ts'

const TWO_ARGUMENTS = {
  type: 'object',
  properties: {
    arg1: { type: 'string', description: 'The first argument' },
    arg2: { type: 'string', description: 'The second argument' },
  },
  required: ['arg1', 'arg2'],
} as const

const RESOURCE_URI = {
  type: 'object',
  properties: { resourceUri: { type: 'string', description: 'The resource to embed' } },
  required: ['resourceUri'],
} as const

const CONTEXT_FORM = {
  type: 'object',
  properties: { context: { type: 'string' } },
  required: ['context'],
} as const

/** Adds the prompts: plain, with arguments, with a resource, with a picture, and one that asks the user. */
export function addPrompts(app: App): void {
  app.prompt(
    'test_simple_prompt',
    { description: 'One message' },
    () => 'This is a simple prompt for testing.',
  )

  const two = { description: 'One message made of two arguments', args: TWO_ARGUMENTS }
  app.prompt('test_prompt_with_arguments', two, ({ arg1, arg2 }) => {
    return `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`
  })
  app.complete('test_prompt_with_arguments', 'arg1', (value) => {
    return ['paris', 'park', 'party'].filter((word) => word.startsWith(value))
  })

  const resource = { description: 'A message that carries a resource', args: RESOURCE_URI }
  app.prompt('test_prompt_with_embedded_resource', resource, ({ resourceUri }) => [
    embed(resourceUri, 'Embedded resource content for testing.', 'text/plain'),
    text('Please process the embedded resource above.'),
  ])

  app.prompt('test_prompt_with_image', { description: 'A message that carries a picture' }, () => [
    image(PNG, 'image/png'),
    text('Please analyze the image above.'),
  ])

  const asking = { description: 'Asks the user for the context that it needs' }
  app.prompt('test_input_required_result_prompt', asking, async (_args, ctx) => {
    const message = 'What context should the prompt use?'
    const answer = await ctx.elicit(message, CONTEXT_FORM, { key: 'user_context' })
    return answer.action === 'accept' ? `Use this context: ${answer.content.context}` : 'Use no context.'
  })
}
