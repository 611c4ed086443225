import { setTimeout as pause } from 'node:timers/promises'
import { McpError, ToolError, type App } from 'pierhead'

/** Adds the tools whose calls become tasks. */
export function addTasks(app: App): void {
  const job = { seconds: { type: 'number' }, label: { type: 'string' } } as const

  app.tool(
    'greet',
    { description: 'Greets at once', input: NAMED },
    ({ name }) => `Hello, ${name ?? 'world'}!`,
  )

  app.tool(
    'slow_compute',
    {
      description: 'Takes as long as it is told',
      input: { type: 'object', properties: job },
      task: { after: 100 },
    },
    async ({ seconds = 1, label = 'job' }, { signal }) => {
      await pause(seconds * 1000, undefined, { signal })
      return `${label} took ${seconds} s`
    },
  )

  app.tool('failing_job', { description: 'Fails after a while', task: 'required' }, async () => {
    await pause(50)
    throw new ToolError('The job failed')
  })

  app.tool('protocol_error_job', { description: 'Ends with an error', task: 'required' }, async () => {
    await pause(50)
    throw new McpError('internal', 'The job ended with an error')
  })

  addAsking(app)
}

function addAsking(app: App): void {
  app.tool(
    'confirm_delete',
    { description: 'Asks before it deletes', input: FILE, task: 'required' },
    async ({ filename = 'file' }, { elicit }) => {
      const { action, content } = await elicit(`Delete ${filename}?`, CONFIRM)
      return action === 'accept' && content['confirm'] === true
        ? `${filename} was deleted`
        : `${filename} was kept`
    },
  )

  app.tool(
    'multi_input',
    { description: 'Asks two questions at once', task: 'required' },
    async (_, { elicit }) => {
      const answers = await Promise.all([elicit('Your name?', NAME), elicit('Your colour?', COLOUR)])
      return JSON.stringify(answers.map(({ content }) => content))
    },
  )

  app.tool(
    'test_tool_with_task',
    { description: 'Asks, then takes long', task: { after: 300 } },
    async (_, { elicit, signal }) => {
      const { content } = await elicit('Your name?', { ...NAME }, { key: 'user_name' })
      await pause(1000, undefined, { signal })
      return `Hello, ${content?.['name']}!`
    },
  )
}

const NAMED = { type: 'object', properties: { name: { type: 'string' } } } as const
const FILE = { type: 'object', properties: { filename: { type: 'string' } } } as const
const CONFIRM = {
  type: 'object',
  properties: { confirm: { type: 'boolean' } },
  required: ['confirm'],
} as const
const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const COLOUR = { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] } as const
