import type { App } from 'pierhead'
import { textOf, describe } from './answers.ts'
import { CONFIRM_FORM, NAME_FORM } from './forms.ts'

const COLOR_FORM = {
  type: 'object',
  properties: { color: { type: 'string' } },
  required: ['color'],
} as const

/** Adds the tools that ask their questions in results, at the revision with rounds. */
export function addRounds(app: App): void {
  addSingle(app)
  addSeveral(app)
  addState(app)
}

function addSingle(app: App): void {
  const elicitation = { description: 'Asks for the name of the user' }
  app.tool('test_input_required_result_elicitation', elicitation, async (_input, ctx) => {
    const answer = await ctx.elicit('What is your name?', NAME_FORM, { key: 'user_name' })
    return answer.action === 'accept' ? `Hello, ${answer.content.name}!` : 'Hello, whoever you are!'
  })

  const sampling = { description: 'Asks the model about a capital' }
  app.tool('test_input_required_result_sampling', sampling, async (_input, ctx) => {
    const messages = [{ role: 'user', content: 'What is the capital of France?' }] as const
    return textOf(await ctx.sample({ messages, maxTokens: 100 }, { key: 'capital_question' }))
  })

  const roots = { description: 'Asks for the folders of the client' }
  app.tool('test_input_required_result_list_roots', roots, async (_input, ctx) => {
    const found = await ctx.roots({ key: 'client_roots' })
    return `Roots: ${found.map((root) => root.uri).join(', ')}`
  })
}

function addSeveral(app: App): void {
  const multiple = { description: 'Asks three things in one round' }
  app.tool('test_input_required_result_multiple_inputs', multiple, async (_input, ctx) => {
    const [name, greeting, roots] = await Promise.all([
      ctx.elicit('What is your name?', NAME_FORM, { key: 'user_name' }),
      ctx.sample(
        { messages: [{ role: 'user', content: 'Generate a greeting' }], maxTokens: 50 },
        { key: 'greeting' },
      ),
      ctx.roots({ key: 'client_roots' }),
    ])
    return `${textOf(greeting)} (${describe(name)}; ${roots.length} roots)`
  })

  const several = { description: 'Asks one thing after the other, in two rounds' }
  app.tool('test_input_required_result_multi_round', several, async (_input, ctx) => {
    const name = await ctx.elicit('Step 1: What is your name?', NAME_FORM, { key: 'step1' })
    const color = await ctx.elicit('Step 2: What is your favorite color?', COLOR_FORM, { key: 'step2' })
    return `${describe(name)}; ${describe(color)}`
  })

  const declared = { description: 'Asks only questions that the client declared support for' }
  app.tool('test_input_required_result_capabilities', declared, async (_input, ctx) => {
    const questions: Promise<unknown>[] = []
    if (ctx.client.supports('elicitation.form')) {
      questions.push(ctx.elicit('What is your name?', NAME_FORM, { key: 'user_name' }))
    }
    if (ctx.client.supports('sampling')) {
      const messages = [{ role: 'user', content: 'Generate a greeting' }] as const
      questions.push(ctx.sample({ messages, maxTokens: 50 }, { key: 'greeting' }))
    }
    return `${(await Promise.all(questions)).length} questions were answered`
  })
}

function addState(app: App): void {
  const kept = { description: 'Keeps a value across the question that it asks' }
  app.tool('test_input_required_result_request_state', kept, async (_input, ctx) => {
    const opened = await ctx.once('opened', () => new Date().toISOString())
    const answer = await ctx.elicit('Please confirm', CONFIRM_FORM, { key: 'confirm' })
    return `state-ok: opened ${opened}, ${describe(answer)}`
  })

  const sealed = { description: 'Rejects a state that it did not sign' }
  app.tool('test_input_required_result_tampered_state', sealed, async (_input, ctx) => {
    return describe(await ctx.elicit('Please confirm', CONFIRM_FORM, { key: 'confirm' }))
  })
}
