import type { CallToolResult } from 'pierhead/client'
import type { Command } from '../command.ts'
import { contentText } from '../content-text.ts'
import { EXIT } from '../exit.ts'
import { wrongUsage } from '../failure.ts'
import { ANSWER_OPTION } from '../given-answers.ts'
import { progressLine } from '../progress-line.ts'
import type { Output } from '../output.ts'
import { referenceIn, type ProgramOutput } from '../program-output.ts'
import { safe, safeJson, safeLine } from '../safe-text.ts'
import { saveBytes, withSaved } from '../saved-bytes.ts'
import { signatureOf } from '../signature.ts'
import { untilInterrupted } from '../interrupted-call.ts'
import { toolArguments } from '../tool-arguments.ts'
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
    const { client, target, printed, answers } = await open()
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
    const onProgress = progressLine(output, io)
    const result = await untilInterrupted(invocation, target, (options) =>
      client.callRaw(name, input, { ...options, ...(onProgress && { onProgress }) }),
    )
    output.status('')
    if (result.isError === true && answers?.problem !== undefined) throw answers.problem
    const saved = await saveBytes(result.content, flags.text('save'), { io, output })
    await output.data(withSaved(result, saved), () => resultText(result))
    if (result.isError !== true) return EXIT.ok
    if ('command' in target.target) await noteCause(result, printed, output)
    return EXIT.tool

    function resultText({ structuredContent, content, isError }: CallToolResult): string {
      const text =
        structuredContent !== undefined && content.every((block) => block.type === 'text')
          ? safeJson(structuredContent, 2)
          : contentText(content, { io, output, saved })
      return isError === true ? output.colors.red(text === '' ? 'The tool failed.' : text) : text
    }
  },
}

/** Tells what the program printed about a failure of which it told its client only a reference. */
async function noteCause({ content }: CallToolResult, printed: ProgramOutput, output: Output): Promise<void> {
  const [first] = content
  const reference = first?.type === 'text' ? referenceIn(first.text) : undefined
  if (reference === undefined) return
  const lines = await printed.causeOf(reference)
  if (lines.length === 0) return output.note('--verbose shows what the program prints.')
  output.note(lines.map((line) => `  ${safe(line)}`).join('\n'))
}

/** The arguments that a tool requires and that were not given. */
function missingOf(schema: Readonly<Record<string, unknown>>, input: object): readonly string[] {
  const { required } = schema
  if (!Array.isArray(required)) return []
  return required.filter((name): name is string => typeof name === 'string' && !Object.hasOwn(input, name))
}
