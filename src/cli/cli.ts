import type { Command, Invocation, OpenOptions } from './command.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { type Failure, failureOf, wrongUsage } from './failure.ts'
import type { Io } from './io.ts'
import { withLoginHint } from './login-hint.ts'
import { open, type Opened } from './open.ts'
import { Output } from './output.ts'
import { parseLine, usageOf, type ParsedLine } from './program.ts'
import { safeJson } from './safe-text.ts'
import { pickTarget, type ResolvedTarget } from './target.ts'

/** Runs one command line, and returns the exit code. Nothing is thrown: errors are printed. */
export async function runCli(
  args: readonly string[],
  io: Io,
  commands: readonly Command[],
): Promise<ExitCode> {
  let output = new Output(io, earlyOptions(args))
  try {
    const parsed = parseLine(args, commands)
    if ('help' in parsed) {
      await output.raw(parsed.help)
      return EXIT.ok
    }
    const { flags } = parsed
    output = new Output(io, {
      json: flags.choice('json'),
      quiet: flags.is('quiet'),
      plain: flags.choice('color') === false,
    })
    return await runParsed(parsed, io, output)
  } catch (error) {
    output.status('')
    return await report(error, io, output, args)
  } finally {
    await output.flush()
  }
}

/** The options that matter for errors in the command line itself. */
function earlyOptions(args: readonly string[]): ConstructorParameters<typeof Output>[1] {
  const own = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)
  return { plain: own.includes('--no-color') }
}

async function runParsed(
  { command, words, flags, rest }: ParsedLine,
  io: Io,
  output: Output,
): Promise<ExitCode> {
  const opened: Opened[] = []
  let target: ResolvedTarget | undefined
  let left = words
  const { hasTarget = false, insteadOfTarget } = command
  const isReplaced = insteadOfTarget !== undefined && flags.text(insteadOfTarget) !== undefined
  if (hasTarget && !isReplaced) ({ target, words: left } = pickTarget(words, rest, flags, io))
  checkWords(command, left)
  const invocation: Invocation = {
    words: left,
    flags,
    io,
    output,
    rest,
    async open(options: OpenOptions = {}) {
      if (target === undefined) throw new Error(`${command.name} has no target`)
      const one = await open(target, invocation, options)
      opened.push(one)
      return one
    },
  }
  try {
    return (await command.run(invocation)) ?? EXIT.ok
  } catch (error) {
    throw withLoginHint(error, target)
  } finally {
    output.status('')
    await Promise.allSettled(opened.map((one) => one[Symbol.asyncDispose]()))
  }
}

/** Rejects too few and too many words. */
function checkWords(command: Command, words: readonly string[]): void {
  const list = command.arguments ?? []
  const missing = list.find(({ isOptional }, i) => isOptional !== true && words[i] === undefined)
  const usage = `Usage: pierhead ${command.name} ${usageOf(command)}`
  if (missing !== undefined) throw wrongUsage(`the ${missing.name} is missing`, usage)
  if (!list.some(({ isMany }) => isMany) && words.length > list.length)
    throw wrongUsage(`"${words[list.length] ?? ''}" is one word too many`, usage)
}

/** Prints an error: for people on stderr, and as JSON on stdout for programs that read it. */
async function report(thrown: unknown, io: Io, output: Output, args: readonly string[]): Promise<ExitCode> {
  if (io.signal.aborted) return EXIT.interrupted
  const failure = failureOf(thrown)
  output.error(failure.message, failure.hint)
  if (args.includes('--verbose') && failure.cause instanceof Error)
    output.note(output.noteColors.dim(traceOf(failure)))
  return failure.exit
}

function traceOf({ cause }: Failure): string {
  return safeJson(String((cause as Error).stack))
    .slice(1, -1)
    .replaceAll('\\n', '\n')
}
