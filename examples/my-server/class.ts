import { MCPServer } from 'pierhead'
import { z } from 'zod'
import { analyze } from './analysis.ts'

const server = new MCPServer({
  id: 'analytics.mcp',
  version: '2025-11',
  transports: ['http'],
  capabilities: ['async'],
})

export const runAnalysis: (input: { dataset: string }) => { summary: string } = server.tool('run_analysis', {
  description: 'Summarises a list of numbers, such as "3 1 2".',
  input: z.object({ dataset: z.string() }),
  output: z.object({ summary: z.string() }),
})(({ dataset }) => ({ summary: analyze(dataset) }))

await server.start()
