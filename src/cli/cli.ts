import type { Command, Flags, Invocation, OpenOptions } from './command.ts'
import { Deadline } from './deadline.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { type Failure, failureOf, wrongAnswer, wrongUsage } from './failure.ts'
import { Interruption, repairWidth, type Io } from './io.ts'
import { withLoginHint } from './login-hint.ts'
import { open, type Opened } from './open.ts'
import { timeOf } from './option-values.ts'
import { Output, type OutputOptions } from './output.ts'
import { parseLine, usageOf, type ParsedLine } from './program.ts'
import { hiddenVariables } from './redaction.ts'
import { safe } from './safe-text.ts'
import { pickTarget, type ResolvedTarget } from './target.ts'

/** Commands whose stdout carries the protocol or a script, so that errors do not belong there. */
const RAW: readonly string[] = ['run', 'dev', 'completion']

/** Runs one command line, and returns the exit code. Nothing is thrown: errors are printed. */
export async function runCli(
  args: readonly string[],
  io: Io,
  commands: readonly Command[],
): Promise<ExitCode> {
  for (const stream of [io.stdout, io.stderr]) repairWidth(stream)
  let output = new Output(io, earlyOptions(args))
  try {
    const { isTTY, columns } = io.stdout
    const parsed = parseLine(args, commands, isTTY === true ? columns : undefined)
    if ('help' in parsed) {
      await output.raw(parsed.help)
      return EXIT.ok
    }
    const { flags, command } = parsed
    output = new Output(io, {
      json: flags.choice('json'),
      quiet: flags.is('quiet'),
      plain: flags.choice('color') === false,
      raw: RAW.includes(command.name),
    })
    hideSecrets(flags, io, output)
    return await runParsed(parsed, io, output)
  } catch (error) {
    output.status('')
    return await report(error, io, output, args)
  } finally {
    await output.flush()
  }
}

/** The options that matter for errors in the command line itself. */
function earlyOptions(args: readonly string[]): OutputOptions {
  const own = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)
  const json = own.includes('--json') || (own.includes('--no-json') ? false : undefined)
  const name = own.find((word) => !word.startsWith('-'))
  return { json, plain: own.includes('--no-color'), raw: name !== undefined && RAW.includes(name) }
}

/** Keeps what may be a secret out of everything that is printed for people. */
function hideSecrets(flags: Flags, { env }: Io, output: Output): void {
  const valueOf = (text: string, mark: string): string => text.slice(text.indexOf(mark) + 1).trim()
  const variables = flags.list('env').map((one) => (one.includes('=') ? valueOf(one, '=') : (env[one] ?? '')))
  output.hide([
    env['PIERHEAD_TOKEN'],
    ...flags.list('header').map((line) => valueOf(line, ':')),
    ...variables,
    ...variables.flatMap((value) => hiddenVariables({ value })),
  ])
}

async function runParsed(line: ParsedLine, io: Io, output: Output): Promise<ExitCode> {
  const { command, flags } = line
  const opened: Opened[] = []
  let target: ResolvedTarget | undefined
  timeOf(flags, 'timeout')
  const { hasTarget = false, insteadOfTarget, hasOwnTotal = false } = command
  const total = timeOf(flags, 'total')
  using deadline = new Deadline(hasOwnTotal ? undefined : total, flags.text('total'))
  const isReplaced = insteadOfTarget !== undefined && flags.text(insteadOfTarget) !== undefined
  const { words, program } = isProgramAfter(line, isReplaced)
    ? { words: line.words, program: line.rest }
    : { words: [...line.words, ...line.rest], program: [] }
  let left: readonly string[] = words
  if (hasTarget && !isReplaced) ({ target, words: left } = pickTarget({ words, program, command }, flags, io))
  checkWords(command, left)
  if (deadline.signal !== undefined) output.endWith(AbortSignal.any([io.signal, deadline.signal]))
  const invocation: Invocation = {
    words: left,
    flags,
    io: deadline.signal === undefined ? io : { ...io, signal: AbortSignal.any([io.signal, deadline.signal]) },
    output,
    rest: program,
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
    if (deadline.signal?.aborted === true && !io.signal.aborted) throw deadline.signal.reason
    // What the command does not expect of a server is the fault of the server.
    if (opened.length > 0 && error instanceof TypeError)
      throw wrongAnswer('a part of it is not of the type that it must be', error)
    throw withLoginHint(error, target, io.env)
  } finally {
    output.status('')
    await Promise.allSettled(opened.map((one) => one[Symbol.asyncDispose]()))
  }
}

/**
 * Whether a program follows `--`. Otherwise these are words that may begin with a dash: of commands without a target, or words that are
 * missing although an option names the target.
 */
function isProgramAfter({ command, words, flags }: ParsedLine, isReplaced: boolean): boolean {
  const { hasTarget = false, arguments: list = [] } = command
  if (!hasTarget || isReplaced) return list.some(({ name }) => name === 'target')
  const isNamed = (flags.text('server') ?? flags.text('server-url')) !== undefined
  return !isNamed || words.length >= list.filter(({ isOptional }) => isOptional !== true).length
}

/** Rejects too few and too many words. */
function checkWords(command: Command, words: readonly string[]): void {
  const list = command.arguments ?? []
  const missing = list.find(({ isOptional }, i) => isOptional !== true && words[i] === undefined)
  const usage = `Usage: pierhead ${command.name} ${usageOf(command)}`
  if (missing !== undefined) throw wrongUsage(`the ${missing.name} is missing`, usage)
  if (!list.some(({ isMany }) => isMany) && words.length > list.length)
    throw wrongUsage(`unexpected argument "${words[list.length] ?? ''}"`, usage)
}

/** Prints an error: for people on stderr, and where stdout has JSON, also there. */
async function report(thrown: unknown, io: Io, output: Output, args: readonly string[]): Promise<ExitCode> {
  if (io.signal.aborted) {
    const reason: unknown = io.signal.reason
    const { message, exit } = reason instanceof Interruption ? reason : new Interruption('SIGINT')
    if (exit === EXIT.terminated) output.note(message)
    await output.ended({ message, exit })
    return exit
  }
  const failure = failureOf(thrown)
  await output.failure(failure)
  if (args.includes('--verbose') && failure.cause instanceof Error)
    output.note(output.noteColors.dim(traceOf(failure)))
  return failure.exit
}

function traceOf({ cause }: Failure): string {
  return safe(String((cause as Error).stack))
}
