import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A measured library. */
export type Subject = 'Pierhead' | 'official v1' | 'official v2' | 'tmcp'

/** A program as the users of a library write it. */
export interface Program {
  readonly subject: Subject
  /** Programs with the same task do the same thing. */
  readonly task: string
  readonly platform: 'browser' | 'node'
  /** The packages that it imports. */
  readonly packages: readonly string[]
  readonly text: string
}

/** The tasks of the programs. */
export const TASKS = {
  zod: 'stdio server, schemas in zod',
  json: 'stdio server, schemas in JSON Schema',
  client: 'browser client, Streamable HTTP',
} as const

export const SUBJECTS: readonly Subject[] = ['Pierhead', 'official v1', 'official v2', 'tmcp']

// With a named import of `z`, esbuild would bundle all of zod.
const ZOD = `import * as z from 'zod'`
const INPUT = 'z.object({ city: z.string() })'
const OUTPUT = 'z.object({ high: z.number(), low: z.number() })'
const JSON_INPUT = `{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }`
const JSON_OUTPUT = `{ type: 'object', properties: { high: { type: 'number' }, low: { type: 'number' } }, required: ['high', 'low'] }`
const ABOUT = `{ name: 'weather', version: '1.0.0' }`
const DESCRIPTION = `'Tomorrow’s weather for a city.'`
const HANDLER = 'async ({ city }) => ({ high: city.length, low: 0 })'
/** For servers that do not convert a value into a result. */
const RESULT_HANDLER = `async ({ city }) => {
  const weather = { high: city.length, low: 0 }
  return { content: [{ type: 'text', text: JSON.stringify(weather) }], structuredContent: weather }
}`
const URL_TEXT = `'https://mcp.example.com/mcp'`
const CALL = `{ name: 'forecast', arguments: { city: 'Lisbon' } }`

const SERVERS: readonly Program[] = [
  {
    subject: 'Pierhead',
    task: TASKS.zod,
    platform: 'node',
    packages: ['zod'],
    text: `${ZOD}\n${ourServer(INPUT, OUTPUT)}`,
  },
  {
    subject: 'official v1',
    task: TASKS.zod,
    platform: 'node',
    packages: ['@modelcontextprotocol/sdk', 'zod'],
    text: `${ZOD}
      import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
      import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
      const server = new McpServer(${ABOUT})
      ${registration(INPUT, OUTPUT)}
      await server.connect(new StdioServerTransport())`,
  },
  {
    subject: 'official v2',
    task: TASKS.zod,
    platform: 'node',
    packages: ['@modelcontextprotocol/server', 'zod'],
    text: `${ZOD}\n${officialServer('McpServer', INPUT, OUTPUT)}`,
  },
  {
    subject: 'tmcp',
    task: TASKS.zod,
    platform: 'node',
    packages: ['tmcp', '@tmcp/adapter-zod', '@tmcp/transport-stdio', 'zod'],
    text: `${ZOD}
      import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
      import { StdioTransport } from '@tmcp/transport-stdio'
      import { McpServer } from 'tmcp'
      const server = new McpServer(${ABOUT}, { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } })
      server.tool(
        { name: 'forecast', description: ${DESCRIPTION}, schema: ${INPUT}, outputSchema: ${OUTPUT} },
        ${RESULT_HANDLER},
      )
      new StdioTransport(server).listen()`,
  },
  {
    subject: 'Pierhead',
    task: TASKS.json,
    platform: 'node',
    packages: [],
    text: ourServer(JSON_INPUT, JSON_OUTPUT),
  },
  {
    subject: 'official v2',
    task: TASKS.json,
    platform: 'node',
    packages: ['@modelcontextprotocol/server'],
    text: officialServer(
      'fromJsonSchema, McpServer',
      `fromJsonSchema(${JSON_INPUT})`,
      `fromJsonSchema(${JSON_OUTPUT})`,
    ),
  },
]

const CLIENTS: readonly Program[] = [
  {
    subject: 'Pierhead',
    task: TASKS.client,
    platform: 'browser',
    packages: [],
    text: `import { connect } from 'pierhead/client'
      const client = await connect(${URL_TEXT})
      for await (const { name } of client.tools()) console.log(name)
      console.log(await client.call('forecast', { city: 'Lisbon' }))`,
  },
  {
    subject: 'official v1',
    task: TASKS.client,
    platform: 'browser',
    packages: ['@modelcontextprotocol/sdk'],
    text: `import { Client } from '@modelcontextprotocol/sdk/client/index.js'
      import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
      ${officialClient()}`,
  },
  {
    subject: 'official v2',
    task: TASKS.client,
    platform: 'browser',
    packages: ['@modelcontextprotocol/client'],
    text: `import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
      ${officialClient()}`,
  },
]

/** Every measured program: the server of the README and a browser client, in each library. */
export const PROGRAMS: readonly Program[] = [...SERVERS, ...CLIENTS]

/** The program of a subject for a task. */
export function programOf(subject: Subject, task: string): Program {
  const found = PROGRAMS.find((program) => program.subject === subject && program.task === task)
  if (found === undefined) throw new Error(`${subject} has no program for: ${task}`)
  return found
}

/** Throws if the packages of a program are not installed. */
export function requireInstalled({ subject, packages }: Program, folder: string = 'node_modules'): void {
  const missing = packages.filter((name) => !existsSync(join(folder, name, 'package.json')))
  if (missing.length === 0) return
  throw new Error(`${subject} cannot be measured without ${missing.join(', ')}: run npm install`)
}

function ourServer(input: string, output: string): string {
  return `import { createServer } from 'pierhead'
    const app = createServer(${ABOUT})
    app.tool('forecast', { description: ${DESCRIPTION}, input: ${input}, output: ${output} }, ${HANDLER})
    await app.listen()`
}

function officialServer(names: string, input: string, output: string): string {
  return `import { ${names} } from '@modelcontextprotocol/server'
    import { serveStdio } from '@modelcontextprotocol/server/stdio'
    serveStdio(() => {
      const server = new McpServer(${ABOUT})
      ${registration(input, output)}
      return server
    })`
}

function registration(input: string, output: string): string {
  return `server.registerTool(
    'forecast',
    { description: ${DESCRIPTION}, inputSchema: ${input}, outputSchema: ${output} },
    ${RESULT_HANDLER},
  )`
}

function officialClient(): string {
  return `const client = new Client({ name: 'reader', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(${URL_TEXT})))
    for (const { name } of (await client.listTools()).tools) console.log(name)
    console.log(await client.callTool(${CALL}))`
}
