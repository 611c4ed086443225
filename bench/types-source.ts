/** The library of the generated server; 'schemas' is only the schemas of the tools. */
export type Library =
  | 'schemas'
  | 'pierhead'
  | 'pierhead-chain'
  | 'pierhead-client'
  | 'pierhead-map'
  | 'v1'
  | 'v2'
  | 'tmcp'

interface SourceParts {
  readonly head: string
  readonly tool: (name: string, input: string, output: string, value: string) => string
  readonly tail?: string | ((tools: number) => string)
}

/** The source of a server with `tools` tools, each with five input and two output fields, as users of the library write it. */
export function serverText(library: Library, tools: number): string {
  const { head, tool, tail = '' } = SOURCES[library]
  const end = typeof tail === 'string' ? tail : tail(tools)
  const all = Array.from({ length: tools }, (_, index) => {
    const input = `z.object({ name${index}: z.string().min(1), size${index}: z.number().int(), open: z.boolean(), kind: z.enum(['a', 'b']), tags: z.array(z.string()).optional() })`
    const output = `z.object({ label${index}: z.string(), total: z.number() })`
    const value = `{ label${index}: input.name${index}, total: input.size${index} + (input.tags?.length ?? 0) }`
    return tool(`tool${index}`, input, output, value)
  })
  return `import * as z from 'zod'\n${head}\n${all.join('\n')}\n${end}\nexport {}\n`
}

const CHAIN: SourceParts = {
  head: `import { createServer } from 'pierhead'\nconst app = createServer({ name: 'types', version: '1.0.0' })`,
  tool: (name, input, output, value) =>
    `  .tool('${name}', { description: '${name}', input: ${input}, output: ${output} }, (input) => (${value}))`,
  tail: 'void app',
}

/** A typed client that calls each tool. */
function callsOf(tools: number): string {
  const calls = Array.from(
    { length: tools },
    (_, index) =>
      `void client.call('tool${index}', { name${index}: 'x', size${index}: 1, open: true, kind: 'a' }).then((value) => value.label${index})`,
  )
  return `const client = createClient<typeof app>('http://localhost')\n${calls.join('\n')}`
}

const SOURCES: Readonly<Record<Library, SourceParts>> = {
  schemas: {
    head: '',
    tool: (name, input, output, value) =>
      `const ${name} = { input: ${input}, output: ${output} }\n` +
      `const run_${name} = (input: z.output<typeof ${name}.input>): z.output<typeof ${name}.output> => (${value})\nvoid run_${name}`,
  },
  pierhead: {
    head: `import { createServer } from 'pierhead'\nconst app = createServer({ name: 'types', version: '1.0.0' })`,
    tool: (name, input, output, value) =>
      `app.tool('${name}', { description: '${name}', input: ${input}, output: ${output} }, (input) => (${value}))`,
  },
  'pierhead-chain': CHAIN,
  'pierhead-client': {
    ...CHAIN,
    head: `import { createClient } from 'pierhead/client'\n${CHAIN.head}`,
    tail: callsOf,
  },
  'pierhead-map': {
    head: `import { createServer, defineTools } from 'pierhead'\nconst app = createServer({ name: 'types', version: '1.0.0' })\napp.add(defineTools({`,
    tool: (name, input, output, value) =>
      `${name}: { description: '${name}', input: ${input}, output: ${output}, run: (input) => (${value}) },`,
    tail: '}))',
  },
  v1: {
    head: `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'\nconst server = new McpServer({ name: 'types', version: '1.0.0' })`,
    tool: (name, input, output, value) =>
      `server.registerTool('${name}', { description: '${name}', inputSchema: ${input}, outputSchema: ${output} }, (input) => { const value = ${value}; return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value } })`,
  },
  v2: {
    head: `import { McpServer } from '@modelcontextprotocol/server'\nconst server = new McpServer({ name: 'types', version: '1.0.0' })`,
    tool: (name, input, output, value) =>
      `server.registerTool('${name}', { description: '${name}', inputSchema: ${input}, outputSchema: ${output} }, (input) => { const value = ${value}; return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value } })`,
  },
  tmcp: {
    head: `import { McpServer } from 'tmcp'\nimport { tool } from 'tmcp/utils'\nimport { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'\nconst server = new McpServer({ name: 'types', version: '1.0.0', description: 'types' }, { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } })`,
    tool: (name, input, output, value) =>
      `server.tool({ name: '${name}', description: '${name}', schema: ${input}, outputSchema: ${output} }, (input) => tool.structured(${value}))`,
  },
}
