import { bundle } from '../../tools/bundle.ts'
import type { Sample, Work } from '../measure.ts'
import { OURS, OURS_JSON, type Subject, TMCP, V1, V2 } from '../subjects.ts'

const INPUT = 'z.object({ a: z.number(), b: z.number() })'
const JSON_INPUT = `{ type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }`
const RESULT = `({ content: [{ type: 'text', text: String(a + b) }] })`

/** A stdio server with one tool, as the users of each write it. */
const PROGRAMS: ReadonlyMap<Subject, string> = new Map([
  [OURS_JSON, ours(JSON_INPUT)],
  [OURS, `import * as z from 'zod'\n${ours(INPUT)}`],
  [
    V1,
    `import * as z from 'zod'
    import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
    import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
    const server = new McpServer({ name: 'size', version: '1.0.0' })
    server.registerTool('add', { inputSchema: ${INPUT} }, ({ a, b }) => ${RESULT})
    await server.connect(new StdioServerTransport())`,
  ],
  [
    V2,
    `import * as z from 'zod'
    import { McpServer } from '@modelcontextprotocol/server'
    import { serveStdio } from '@modelcontextprotocol/server/stdio'
    serveStdio(() => {
      const server = new McpServer({ name: 'size', version: '1.0.0' })
      server.registerTool('add', { inputSchema: ${INPUT} }, ({ a, b }) => ${RESULT})
      return server
    })`,
  ],
  [
    TMCP,
    `import * as z from 'zod'
    import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
    import { StdioTransport } from '@tmcp/transport-stdio'
    import { McpServer } from 'tmcp'
    const server = new McpServer(
      { name: 'size', version: '1.0.0' },
      { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
    )
    server.tool({ name: 'add', description: 'Adds.', schema: ${INPUT} }, ({ a, b }) => ${RESULT})
    new StdioTransport(server).listen()`,
  ],
])

/** What a stdio server loads at its start when it is bundled, as it travels. */
export const bundles: Work = {
  name: 'bundle',
  run: async (_plan, say) => {
    const samples: Sample[] = []
    for (const [subject, program] of PROGRAMS) {
      const { gzip } = await bundle({ program, platform: 'node', from: 'built', atOnce: ['listen.'] })
      say(`${subject.name} ${(gzip / 1000).toFixed(1)} KB`)
      const work = 'bundle of a stdio server, minified'
      samples.push({ work, subject, value: gzip / 1000, unit: 'KB gzip', better: 'less' })
    }
    return samples
  },
}

function ours(input: string): string {
  return `import { createServer } from 'pierhead'
    const app = createServer({ name: 'size', version: '1.0.0' })
    app.tool('add', { input: ${input} }, ({ a, b }) => String(a + b))
    await app.listen()`
}
