import { DOCUMENTS } from './documents.ts'
import { nearest } from '../base/nearest.ts'
import type { Command, Option } from './command.ts'
import { GLOBAL_OPTIONS, TARGET_OPTIONS } from './common-options.ts'
import { type Failure, wrongUsage } from './failure.ts'

/** The words before `--`, in the order in which they are parsed. */
export interface ArrangedLine {
  /** The name of the command, or of the parent of several; empty if the line names none. */
  readonly name: readonly string[]
  /** All words: the name, the options that stood before it, and what followed. */
  readonly words: readonly string[]
}

/** Puts options that stand before the command behind it, and turns `help call` into `call --help`. Throws if there is no such command. */
export function arrangedLine(own: readonly string[], commands: readonly Command[]): ArrangedLine {
  const names = new Set(commands.map(({ name }) => name))
  const words = [...own]
  const early: string[] = []
  const takeOptions = (at: number): void => {
    for (let word = words[at]; word?.startsWith('-') === true && word !== '-'; word = words[at])
      early.push(...words.splice(at, 1))
  }
  const takeHelp = (at: number): void => {
    takeOptions(at)
    if (words[at] !== 'help') return
    words.splice(at, 1)
    early.push('--help')
    takeOptions(at)
  }
  takeHelp(0)
  const [first] = words
  if (first === undefined) return { name: [], words: early }
  let length = 1
  if (!names.has(first)) {
    if (!commands.some(({ name }) => name.startsWith(`${first} `))) throw unknownCommand(words, commands)
    takeHelp(1)
    const [, second] = words
    if (second !== undefined && !names.has(`${first} ${second}`)) throw unknownCommand(words, commands)
    length = second === undefined ? 1 : 2
  }
  const name = words.slice(0, length)
  return { name, words: [...name, ...early, ...words.slice(length)] }
}

function unknownCommand([first = '', second]: readonly string[], commands: readonly Command[]): Failure {
  const names = commands.map(({ name }) => name)
  const below = names.filter((name) => name.startsWith(`${first} `))
  const isParent = below.length > 0 && second !== undefined
  const meant = isParent
    ? nearest(
        second,
        below.map((name) => name.slice(first.length + 1)),
      )
    : ((second === undefined ? undefined : nearest(`${first} ${second}`, names)) ??
      nearest(first, new Set(names.flatMap((name) => [name, name.split(' ')[0] ?? '']))))
  const wrong = isParent ? `${first} ${second}` : first
  return wrongUsage(
    `there is no command "${wrong}"${suggestion(isParent && meant !== undefined ? `${first} ${meant}` : meant)}`,
    `pierhead ${isParent ? `${first} ` : ''}--help lists the commands.`,
  )
}

/** The end of a message about a word that does not exist: the one that was probably meant. */
export function suggestion(meant: string | undefined): string {
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}

/** Whether a command prints JSON at all; stdout may be for something else. */
function printsJson({ name }: Command): boolean {
  return DOCUMENTS[name]?.startsWith('none') !== true
}

/** The options that a command takes. */
export function optionsOf(command: Command): readonly Option[] {
  return [
    ...(command.options ?? []),
    ...(command.hasTarget === true ? TARGET_OPTIONS : []),
    ...GLOBAL_OPTIONS.filter(({ flags }) => printsJson(command) || !/^--(?:no-)?json$/.test(flags)),
  ]
}

/** What commander says of a line, in our words, with the option that was probably meant. */
export function optionFailure(
  { code, message }: { readonly code: string; readonly message: string },
  { name }: ArrangedLine,
  commands: readonly Command[],
): Failure {
  const command = commands.find((one) => one.name === name.join(' '))
  const known = (command === undefined ? GLOBAL_OPTIONS : optionsOf(command)).flatMap(
    ({ flags }) => /--[\w-]+/.exec(flags) ?? [],
  )
  const [, wrong = ''] = /'([^']*)'/.exec(message) ?? []
  const meant = code === 'commander.unknownOption' ? meantOption(wrong, [...known, '--help']) : undefined
  const isWord = code === 'commander.unknownOption' && meant === undefined && /^-[^-]/.test(wrong)
  return wrongUsage(
    `${message.replace(/^error: /, '').replace(/\.?$/, '')}${suggestion(meant)}`,
    `pierhead ${[...name, '--help'].join(' ')} shows what is possible.${isWord ? dashHint(command) : ''}`,
  )
}

/** What other programs call our options. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '--legacy': '--revision',
    '--pin': '--revision',
    '--protocol': '--revision',
    '--protocol-version': '--revision',
    // validate checks all revisions, or a target.
    '--revision': '--target',
    '--args': '--input',
    '--params': '--input',
    '--url': '--server-url',
  }),
)

/** The option that somebody probably meant: under another name, without the end of a longer name, or misspelt. */
function meantOption(wrong: string, known: readonly string[]): string | undefined {
  const other = OTHER_NAMES.get(wrong)
  const meant = [other, OTHER_NAMES.get(other ?? '')].find((one) => one !== undefined && known.includes(one))
  if (meant !== undefined) return meant
  return known.find((one) => wrong.startsWith(`${one}-`)) ?? nearest(wrong, known)
}

/** How to write a word that begins with a dash. */
function dashHint({ name, hasTarget = false, arguments: list = [] }: Partial<Command> = {}): string {
  const word = list.find(({ isOptional }) => isOptional !== true)?.name.toUpperCase()
  if (word === undefined) return ''
  return ` If it is not an option, write it after --: pierhead ${name} ${hasTarget ? '--server TARGET ' : ''}-- ${word}`
}
