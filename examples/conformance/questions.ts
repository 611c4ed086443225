import type { App } from 'pierhead'
import { textOf, describe } from './answers.ts'
import { DEFAULTS_FORM, ENUMS_FORM, NAME_FORM, USER_FORM } from './forms.ts'

const MESSAGE = {
  type: 'object',
  properties: { message: { type: 'string', description: 'What the user reads' } },
  required: ['message'],
} as const

const PROMPT = {
  type: 'object',
  properties: { prompt: { type: 'string', description: 'What the model reads' } },
  required: ['prompt'],
} as const

/** Adds the tools that put one question to the client. */
export function addQuestions(app: App): void {
  app.tool(
    'test_sampling',
    { description: "Asks the client's model", input: PROMPT },
    async ({ prompt }, ctx) => {
      const answer = await ctx.sample({ messages: [{ role: 'user', content: prompt }], maxTokens: 100 })
      return `LLM response: ${textOf(answer)}`
    },
  )

  app.tool('test_elicitation', { description: 'Asks the user', input: MESSAGE }, async ({ message }, ctx) => {
    return `User response: ${describe(await ctx.elicit(message, USER_FORM))}`
  })

  const defaults = { description: 'Asks the user with a form whose fields have defaults' }
  app.tool('test_elicitation_sep1034_defaults', defaults, async (_input, ctx) => {
    const answer = await ctx.elicit('Please review the form', DEFAULTS_FORM)
    return `Elicitation completed: ${describe(answer)}`
  })

  const enums = { description: 'Asks the user with a form that has every kind of choice' }
  app.tool('test_elicitation_sep1330_enums', enums, async (_input, ctx) => {
    const answer = await ctx.elicit('Please choose', ENUMS_FORM)
    return `Elicitation completed: ${describe(answer)}`
  })

  const streaming = { description: 'Asks the user after its first progress report' }
  app.tool('test_streaming_elicitation', streaming, async (_input, ctx) => {
    ctx.progress(1, 2)
    const answer = await ctx.elicit('What is your name?', NAME_FORM, { key: 'user_name' })
    ctx.progress(2, 2)
    return `User response: ${describe(answer)}`
  })

  const missing = { description: 'Needs a client that can sample' }
  app.tool('test_missing_capability', missing, async (_input, ctx) => {
    const answer = await ctx.sample({ messages: [{ role: 'user', content: 'Say hello' }], maxTokens: 10 })
    return `LLM response: ${textOf(answer)}`
  })
}
