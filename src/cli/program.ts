import { Command as Program, CommanderError, Option as ProgramOption } from 'commander'
import { arrangedLine, optionFailure, optionsOf, type ArrangedLine } from './arranged-line.ts'
import { item, layout, USUAL_COLUMNS, wrapped } from './help-layout.ts'
import { Flags, GROUPS, type Argument, type Command, type Option } from './command.ts'
import { GLOBAL_OPTIONS } from './common-options.ts'
import { DOCUMENTS } from './documents.ts'
import { wrongUsage } from './failure.ts'
import { ownVersion } from './version.ts'

/** A command line: the command that it names, and what it says. */
export interface ParsedLine {
  readonly command: Command
  readonly words: readonly string[]
  readonly flags: Flags
  /** What follows `--`. */
  readonly rest: readonly string[]
}

/** Text to print instead of running a command. */
export interface HelpText {
  readonly help: string
}

/** Parses the words after `pierhead`. Help fits `columns`, those of a terminal. Throws a failure that says what is wrong. */
export function parseLine(
  args: readonly string[],
  commands: readonly Command[],
  columns?: number,
): ParsedLine | HelpText {
  const at = args.indexOf('--')
  const [own, rest] = at < 0 ? [args, []] : [args.slice(0, at), args.slice(at + 1)]
  const arranged = arrangedLine(own, commands)
  if (arranged.name.length === 0 && arranged.words.some((word) => VERSION.includes(word)))
    return versionText(own)
  let parsed: ParsedLine | undefined
  let help = ''
  const root = rootProgram((text) => (help += text), columns)
  const parents = new Map<string, Program>()
  for (const command of commands) {
    const program = addCommand(root, parents, command, columns)
    program.action((...given: unknown[]) => {
      const values = program.optsWithGlobals() as Record<string, unknown>
      const words = given
        .slice(0, -2)
        .flat()
        .filter((word): word is string => typeof word === 'string')
      // Such as -- $PROGRAM with an empty variable, which must not lead to another server.
      if (at >= 0 && rest.length === 0 && takesProgram(command))
        throw wrongUsage('the program after -- is empty', 'Write -- node server.js.')
      parsed = { command, words, flags: flagsOf(program, values), rest }
    })
  }
  try {
    root.parse([...withoutGlobal(arranged)], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0 && error.code !== 'commander.help')
      throw optionFailure(error, arranged, commands)
  }
  if (root.opts()['version'] === true) return versionText(own)
  return parsed ?? { help: help === '' ? root.helpInformation() : help }
}

function takesProgram({ hasTarget = false, arguments: [first] = [] }: Command): boolean {
  return hasTarget || first?.name === 'target'
}

const VERSION: readonly string[] = ['--version', '-v', '-V']

function versionText(own: readonly string[]): HelpText {
  const version = ownVersion()
  return { help: `${own.includes('--json') ? JSON.stringify({ version }) : version}\n` }
}

/** The words to parse. Without a command, or with one that has others below it, the options of every command do nothing. */
function withoutGlobal({ name, words }: ArrangedLine): readonly string[] {
  const isComplete = name.length > 1 || (name.length === 1 && PARENTS[name[0] ?? ''] === undefined)
  if (isComplete) return words
  const known = GLOBAL_OPTIONS.flatMap(({ flags }) => flags.split(', '))
  return words.filter((word) => !known.includes(word))
}

function rootProgram(print: (text: string) => void, columns: number | undefined): Program {
  const root = new Program('pierhead')
    .description('Builds, runs, calls and checks servers of the Model Context Protocol.')
    .usage('<command> [target] [options]')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({
      ...layout(columns),
      sortSubcommands: false,
      subcommandTerm: (command) => command.name(),
    })
    .helpOption('-h, --help', 'show this help')
    .configureOutput({
      writeOut: print,
      writeErr: print,
      outputError: () => undefined,
      getOutHelpWidth: () => columns ?? USUAL_COLUMNS,
    })
    .exitOverride()
    .showSuggestionAfterError(false)
    .option('--version', 'print the version')
  root.addHelpText(
    'after',
    `\n${wrapped(
      'A target is a URL (http, https, ws, wss, tcp, tls, unix), a file such as server.ts, a name from an mcp.json file, or a program after --. Without one, the server of the project is used.',
      columns ?? USUAL_COLUMNS,
    )}`,
  )
  for (const group of GROUPS) root.commandsGroup(`${group}:`)
  return root
}

/** Adds a command, and the parent of one such as `tasks list`. */
function addCommand(
  root: Program,
  parents: Map<string, Program>,
  command: Command,
  columns: number | undefined,
): Program {
  const [first = '', second] = command.name.split(' ')
  let parent = root
  if (second !== undefined) {
    parent =
      parents.get(first) ??
      inherit(root.command(first), root)
        .helpGroup(`${command.group}:`)
        .summary(PARENTS[first] ?? '')
        .description(sentence(PARENTS[first] ?? ''))
    parents.set(first, parent)
  }
  const program = inherit(parent.command(second ?? first), root)
    .helpGroup(second === undefined ? `${command.group}:` : 'Commands:')
    .summary(command.summary)
    .description([sentence(command.summary), command.details ?? ''].join('\n\n').trim())
    .usage(usageOf(command))
  // The words are told apart later, since the target may be absent.
  if (command.hasTarget === true || (command.arguments ?? []).length > 0) program.argument('[words...]')
  for (const option of optionsOf(command)) program.addOption(optionOf(option))
  program.configureHelp({ ...layout(columns), visibleArguments: () => [] })
  program.addHelpText('after', () => moreHelp(command, columns))
  return program
}

/** The descriptions of commands that only have others below them. */
const PARENTS: Readonly<Record<string, string>> = {
  tasks: 'long-running work: list, show, wait, cancel, retry',
  auth: 'logins of this machine: login, status, logout',
  keys: 'key pairs for servers on stdio: create, show, allow',
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function inherit(program: Program, root: Program): Program {
  return program.copyInheritedSettings(root)
}

function optionOf({ flags, summary, isMany = false, choices }: Option): ProgramOption {
  const option = new ProgramOption(flags, summary)
  if (choices !== undefined) option.choices([...choices])
  // Later values are added to the first, and a missing one stays undefined.
  if (isMany) option.argParser((value: string, all: readonly string[] | undefined) => [...(all ?? []), value])
  return option
}

/** The options that were given, by their long names. */
function flagsOf(program: Program, values: Record<string, unknown>): Flags {
  return new Flags(
    program.options.flatMap((option) => {
      const key = option.attributeName()
      const isGiven = program.getOptionValueSource(key) === 'cli'
      return isGiven ? [[option.name().replace(/^no-/, ''), values[key]] as const] : []
    }),
  )
}

/** The arguments of a command as its usage shows them. */
export function usageOf({
  hasTarget,
  arguments: list = [],
}: Pick<Command, 'hasTarget' | 'arguments'>): string {
  const shown = ({ name, isOptional, isMany }: Argument): string => {
    const text = isMany ? `${name}...` : name
    return isOptional ? `[${text}]` : `<${text}>`
  }
  const words = [...(hasTarget ? ['[target]'] : []), ...list.map(shown), '[options]']
  return words.join(' ')
}

function moreHelp(
  { name: command, arguments: list = [], examples }: Command,
  columns: number | undefined,
): string {
  const width = Math.max(...list.map(({ name }) => name.length), 0)
  const words = list.map(({ name, summary }) => item(name, width, summary, columns))
  return [
    ...(words.length > 0 ? ['', 'Arguments:', ...words] : []),
    '',
    'Examples:',
    ...examples.flatMap(([line, does]) => [`  pierhead ${line}`, wrapped(`      ${does}`, columns, 6)]),
    '',
    wrapped(`JSON: ${DOCUMENTS[command] ?? 'none'}`, columns),
  ].join('\n')
}
