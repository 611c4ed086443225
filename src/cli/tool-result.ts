import type { CallToolResult } from 'pierhead/client'
import type { Invocation } from './command.ts'
import { contentText } from './content-text.ts'
import { EXIT, type ExitCode } from './exit.ts'
import type { Opened } from './open.ts'
import type { Output } from './output.ts'
import { referenceIn, type ProgramOutput } from './program-output.ts'
import { safe, safeJson } from './safe-text.ts'
import { saveBytes, withSaved } from './saved-bytes.ts'

/** Prints the result of a tool, saves its bytes if that was asked for, and returns the exit code. `opened` is the connection it came over. */
export async function printResult(
  result: CallToolResult,
  { flags, io, output }: Pick<Invocation, 'flags' | 'io' | 'output'>,
  opened?: Pick<Opened, 'target' | 'printed'>,
): Promise<ExitCode> {
  const saved = await saveBytes(result.content, flags.text('save'), { io, output })
  await output.data(withSaved(result, saved), () => resultText(result))
  if (result.isError !== true) return EXIT.ok
  if (opened !== undefined && 'command' in opened.target.target)
    await noteCause(result, opened.printed, output)
  return EXIT.tool

  function resultText({ structuredContent, content, isError }: CallToolResult): string {
    const text =
      structuredContent !== undefined && content.every((block) => block.type === 'text')
        ? safeJson(structuredContent, 2)
        : contentText(content, { io, output, saved })
    return isError === true ? output.colors.red(text === '' ? 'The tool failed.' : text) : text
  }
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
