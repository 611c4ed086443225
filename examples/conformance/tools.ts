import { setTimeout as pause } from 'node:timers/promises'
import { audio, embed, image, text, ToolError, type App } from 'pierhead'
import { PNG, WAV } from './media.ts'

/** Adds the tools that ask no questions: each kind of content, a failure, logs, progress, schemas. */
export function addTools(app: App): void {
  addContent(app)
  addReports(app)
  addSchemas(app)
}

function addContent(app: App): void {
  app.tool('test_simple_text', { description: 'Answers with one text' }, () => {
    return 'This is a simple text response for testing.'
  })

  app.tool('test_image_content', { description: 'Answers with a picture' }, () => image(PNG, 'image/png'))

  app.tool('test_audio_content', { description: 'Answers with a sound' }, () => audio(WAV, 'audio/wav'))

  app.tool('test_embedded_resource', { description: 'Answers with a resource inside the result' }, () => {
    return embed('test://embedded-resource', 'This is an embedded resource content.', 'text/plain')
  })

  app.tool(
    'test_multiple_content_types',
    { description: 'Answers with a text, a picture and a resource' },
    () => {
      const data = JSON.stringify({ test: 'data', value: 123 })
      return [
        text('Multiple content types test:'),
        image(PNG, 'image/png'),
        embed('test://mixed-content-resource', data, 'application/json'),
      ]
    },
  )

  app.tool('test_error_handling', { description: 'Always fails' }, () => {
    throw new ToolError('This tool intentionally returns an error for testing')
  })
}

function addReports(app: App): void {
  app.tool(
    'test_tool_with_logging',
    { description: 'Logs three times while it works' },
    async (_input, ctx) => {
      ctx.log.info('Tool execution started')
      await pause(50, undefined, { signal: ctx.signal })
      ctx.log.info('Tool processing data')
      await pause(50, undefined, { signal: ctx.signal })
      ctx.log.info('Tool execution completed')
      return 'Logged three times'
    },
  )

  app.tool('test_logging_tool', { description: 'Logs once, if the client asked for logs' }, (_input, ctx) => {
    ctx.log.info('The logging tool was called')
    return 'Logged once'
  })

  app.tool(
    'test_tool_with_progress',
    { description: 'Reports progress three times' },
    async (_input, ctx) => {
      ctx.progress(0, 100)
      await pause(50, undefined, { signal: ctx.signal })
      ctx.progress(50, 100)
      await pause(50, undefined, { signal: ctx.signal })
      ctx.progress(100, 100)
      return 'Reported three times'
    },
  )

  app.tool(
    'test_reconnection',
    { description: 'Closes the stream before it answers' },
    async (_input, ctx) => {
      ctx.closeStream(500)
      await pause(100, undefined, { signal: ctx.signal })
      return 'The answer arrived after the client reconnected'
    },
  )
}

function addSchemas(app: App): void {
  const description = 'Has a 2020-12 schema that is listed unchanged'
  app.tool('json_schema_2020_12_tool', { description, input: CONTACT }, (contact) => {
    return `Received ${JSON.stringify(contact)}`
  })

  app.tool(
    'test_x_mcp_header',
    { description: 'Repeats its region in a header', input: REGION },
    ({ region }) => {
      return `Region: ${region}`
    },
  )
}

const CONTACT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const

const REGION = {
  type: 'object',
  properties: { region: { type: 'string', description: 'Where to run', 'x-mcp-header': 'Region' } },
  required: ['region'],
} as const
