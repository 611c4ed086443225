import type { Command } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { ANSWER_OPTION } from '../given-answers.ts'
import { progressLine } from '../progress-line.ts'
import { safeLine } from '../safe-text.ts'
import { signatureOf } from '../signature.ts'
import { untilInterrupted } from '../interrupted-call.ts'
import { toolArguments, unnamedText } from '../tool-arguments.ts'
import { printResult } from '../tool-result.ts'
import { unknownTool } from '../unknown-tool.ts'

export const call: Command = {
  name: 'call',
  group: 'Use a server',
  summary: 'call a tool',
  details:
    'Arguments are key=value, read as the schema of the tool wants them; key:=json is JSON, key=@file the text of a file, @file and - ' +
    'are JSON objects with all arguments, from a file and from stdin. Long calls show their progress, questions are asked in the terminal or answered by --answer, and ' +
    'long-running work is followed until it ends. Progress begins the time of --timeout anew; --total limits the whole command. On a terminal it prints the result as text; a failed tool ends with exit code 5.',
  hasTarget: true,
  arguments: [
    { name: 'tool', summary: 'the name of the tool' },
    {
      name: 'argument',
      summary: 'such as a=1, tags:=\'["x"]\', text=@notes.txt, @all.json or -',
      isOptional: true,
      isMany: true,
    },
  ],
  options: [
    { flags: '-i, --input <json>', summary: 'all arguments as a JSON object' },
    ANSWER_OPTION,
    { flags: '--save <folder>', summary: 'save images, sounds and other bytes there' },
  ],
  examples: [
    ['call server.ts add a=1 b=2', 'calls the tool add of server.ts'],
    ['call http://localhost:3000/mcp search --input \'{"q":"tides"}\'', 'gives the arguments as JSON'],
  ],
  async run(invocation) {
    const {
      words: [name = '', ...words],
      flags,
      io,
      output,
      open,
    } = invocation
    const opened = await open()
    const { client, target, answers } = opened
    const tools = await client.tools().toArray()
    const tool = tools.find((one) => one.name === name)
    if (tool === undefined)
      throw unknownTool(
        name,
        tools.map((one) => one.name),
      )
    const input = await toolArguments({ words, input: flags.text('input'), schema: tool.inputSchema }, io)
    const missing = missingOf(tool.inputSchema, input)
    if (missing.length > 0)
      throw wrongUsage(
        `${missing.map((one) => `"${safeLine(one)}"`).join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing`,
        `The tool is ${safeLine(signatureOf(tool), 500)}.`,
      )
    const unnamed = unnamedText(tool.inputSchema, input)
    if (unnamed !== undefined) output.warn(unnamed)
    const onProgress = progressLine(output, io)
    const result = await untilInterrupted(invocation, target, (options) =>
      client.callRaw(name, input, { ...options, ...(onProgress && { onProgress }) }),
    )
    output.status('')
    if (result.isError === true && answers?.problem !== undefined) throw answers.problem
    return printResult(result, invocation, { opened, tool })
  },
}

/** The arguments that a tool requires and that were not given. */
function missingOf(schema: Readonly<Record<string, unknown>>, input: object): readonly string[] {
  const { required } = schema
  if (!Array.isArray(required)) return []
  return required.filter((name): name is string => typeof name === 'string' && !Object.hasOwn(input, name))
}
