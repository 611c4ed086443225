import type { CallToolResult } from 'pierhead/client'
import type { Invocation } from './command.ts'
import { contentText } from './content-text.ts'
import { EXIT, type ExitCode } from './exit.ts'
import type { Opened } from './open.ts'
import type { Output } from './output.ts'
import { referenceIn, type ProgramOutput } from './program-output.ts'
import { safe, safeJsonStart, safeLine } from './safe-text.ts'
import { saveBytes, withSaved } from './saved-bytes.ts'
import { signatureOf } from './signature.ts'

/** Where a result comes from, as far as that is known. */
export interface ResultSource {
  /** The connection. */
  readonly opened?: Pick<Opened, 'target' | 'printed'> | undefined
  /** The tool that was called. */
  readonly tool?: (Parameters<typeof signatureOf>[0] & { readonly name: string }) | undefined
}

/** Prints the result of a tool, saves its bytes if that was asked for, and returns the exit code. If the tool failed, it says so and what to do. */
export async function printResult(
  result: CallToolResult,
  { flags, io, output }: Pick<Invocation, 'flags' | 'io' | 'output'>,
  { opened, tool }: ResultSource = {},
): Promise<ExitCode> {
  const saved = await saveBytes(result.content, flags.text('save'), { io, output })
  await output.data(withSaved(result, saved), () => resultText(result))
  if (result.isError !== true) return EXIT.ok
  const { problem, hint } = failureOf(result, tool)
  output.error(problem, hint)
  if (opened !== undefined && 'command' in opened.target.target)
    await noteCause(result, opened.printed, output)
  return EXIT.tool

  function resultText({ structuredContent, content, isError }: CallToolResult): string {
    const text =
      structuredContent !== undefined && content.every((block) => block.type === 'text')
        ? safeJsonStart(structuredContent)
        : contentText(content, { io, output, saved })
    return isError === true ? output.colors.red(text === '' ? 'The tool failed.' : text) : text
  }
}

/** How servers begin the text that they reject arguments with: this package, and the official SDKs. */
const REJECTED = /^arguments of tool\b|-32602|\binput validation\b|\binvalid (?:arguments|input)\b/i

/** A problem and a hint for a failed tool. Its own text is printed as its result. */
function failureOf(
  { content }: CallToolResult,
  tool: ResultSource['tool'],
): { readonly problem: string; readonly hint: string } {
  const [first] = content
  const said = first?.type === 'text' ? first.text.slice(0, MOST_READ) : ''
  const name = tool === undefined ? 'the tool' : `the tool "${safeLine(tool.name)}"`
  if (REJECTED.test(said))
    return {
      problem: `${name} rejected its arguments`,
      hint:
        tool === undefined
          ? 'Give arguments that its schema allows.'
          : `The tool is ${safeLine(signatureOf(tool), 500)}.`,
    }
  const isMasked = referenceIn(said) !== undefined
  return {
    problem: `${name} failed`,
    hint: isMasked
      ? 'The log of the server has the error, with the reference.'
      : 'The tool reported this error itself: its text says why.',
  }
}

/** The part of a text that says what kind of failure it is. */
const MOST_READ = 1_000

/** Tells what the program printed about a failure of which it told its client only a reference. */
async function noteCause({ content }: CallToolResult, printed: ProgramOutput, output: Output): Promise<void> {
  const [first] = content
  const reference = first?.type === 'text' ? referenceIn(first.text) : undefined
  if (reference === undefined) return
  const lines = await printed.causeOf(reference)
  if (lines.length === 0) return output.note('--verbose shows what the program prints.')
  output.note(lines.map((line) => `  ${safe(line)}`).join('\n'))
}
