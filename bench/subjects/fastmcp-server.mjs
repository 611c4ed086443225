import { FastMCP } from 'fastmcp'
import { add } from './handlers.mjs'
import { about, options } from './options.mjs'
import { addInput, wideToolsOf } from './zod-tools.mjs'

const quiet = () => {}

/** A FastMCP server without logs and pings. */
export const server = new FastMCP({
  ...about,
  logger: { debug: quiet, error: quiet, info: quiet, log: quiet, warn: quiet },
  ping: { enabled: false },
  roots: { enabled: false },
})
const described = { name: 'add', description: 'Adds two numbers.', parameters: addInput }
if (options.add) server.addTool({ ...described, execute: options.progress ? addWithProgress : add })
for (const { name, description, input } of wideToolsOf(options.wide))
  server.addTool({ name, description, parameters: input, execute: () => 'filed' })

async function addWithProgress(input, { reportProgress }) {
  await reportProgress({ progress: 1, total: 2 })
  return add(input)
}
