import type { CallToolResult } from 'pierhead/client'
import { suggestion } from '../arranged-line.ts'
import type { Command } from '../command.ts'
import { contentText, saveBytes, withSaved } from '../content-text.ts'
import { EXIT } from '../exit.ts'
import { nearest } from '../../base/nearest.ts'
import { type Failure, wrongUsage } from '../failure.ts'
import { progressLine } from '../progress-line.ts'
import { safeJson, safeLine } from '../safe-text.ts'
import { signatureOf } from '../signature.ts'
import { toolArguments } from '../tool-arguments.ts'

export const call: Command = {
  name: 'call',
  group: 'Use a server',
  summary: 'call a tool',
  details:
    'Arguments are key=value, read as the schema of the tool wants them; key:=json is JSON, key=@file the text of a file, @file and - ' +
    'are JSON objects with all arguments, from a file and from stdin. Long calls show their progress, questions are asked in the terminal, and ' +
    'long-running work is followed until it ends. On a terminal it prints the result as text; a failed tool ends with exit code 5.',
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
    { flags: '--save <folder>', summary: 'save images, sounds and other bytes there' },
  ],
  examples: [
    ['call server.ts add a=1 b=2', 'calls the tool add of server.ts'],
    ['call http://localhost:3000/mcp search --input \'{"q":"tides"}\'', 'gives the arguments as JSON'],
  ],
  async run({ words: [name = '', ...words], flags, io, output, open }) {
    const { client } = await open()
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
    const onProgress = progressLine(output)
    const result: CallToolResult = await client.callRaw(name, input, {
      signal: io.signal,
      ...(onProgress && { onProgress }),
    })
    output.status('')
    const saved = saveBytes(result.content, flags.text('save'), io)
    await output.data(withSaved(result, saved), () => resultText(result))
    return result.isError === true ? EXIT.tool : EXIT.ok

    function resultText({ structuredContent, content, isError }: CallToolResult): string {
      const text =
        structuredContent !== undefined && content.every((block) => block.type === 'text')
          ? safeJson(structuredContent, 2)
          : contentText(content, { io, output, saved })
      return isError === true ? output.colors.red(text === '' ? 'The tool failed.' : text) : text
    }
  },
}

function unknownTool(name: string, names: readonly string[]): Failure {
  return wrongUsage(
    `there is no tool "${name}"${suggestion(nearest(name, names))}`,
    names.length === 0
      ? 'The server has no tools.'
      : `The tools are ${names.slice(0, 30).join(', ')}${names.length > 30 ? ', …' : ''}.`,
  )
}

/** The arguments that a tool requires and that were not given. */
function missingOf(schema: Readonly<Record<string, unknown>>, input: object): readonly string[] {
  const { required } = schema
  if (!Array.isArray(required)) return []
  return required.filter((name): name is string => typeof name === 'string' && !Object.hasOwn(input, name))
}
