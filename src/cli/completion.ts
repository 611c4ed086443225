import { optionsOf } from './arranged-line.ts'
import type { Command } from './command.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof SHELLS)[number]

/** The words that may follow a command. */
interface Suggestion {
  readonly word: string
  readonly summary: string
}

/** Values that may follow: an option of a command, or, without one, the command itself. */
interface Values {
  readonly command: string
  /** As it may be written; empty for the first word after the command. */
  readonly options: readonly string[]
  readonly values: readonly string[]
  /** Whether a target may come first. */
  readonly isAfterTarget?: boolean
}

/**
 * The script that makes a shell complete commands, options and fixed values. It is fixed text: completing starts no server, so it knows no
 * names of tools.
 */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const [branches, values] = [branchesOf(commands), valuesOf(commands)]
  if (shell === 'fish') return fishScript(branches, values)
  return shell === 'zsh' ? zshScript(branches, values) : bashScript(branches, values)
}

function valuesOf(commands: readonly Command[]): readonly Values[] {
  return commands.flatMap((command) => {
    const { name, hasTarget: isAfterTarget = false, arguments: [first] = [] } = command
    const ofOptions = optionsOf(command).flatMap(({ flags, choices, values = choices }) =>
      values === undefined ? [] : [{ command: name, options: flags.match(/--?[\w-]+/g) ?? [], values }],
    )
    return [
      ...(first?.values === undefined
        ? []
        : [{ command: name, options: [], values: first.values, isAfterTarget }]),
      ...ofOptions,
    ]
  })
}

/** What may follow each beginning of a command line: '' for the commands, and a command for its options or the commands below it. */
function branchesOf(commands: readonly Command[]): ReadonlyMap<string, readonly Suggestion[]> {
  const branches = new Map<string, Suggestion[]>()
  const add = (start: string, suggestion: Suggestion): void => {
    const known = branches.get(start) ?? []
    if (!known.some(({ word }) => word === suggestion.word)) branches.set(start, [...known, suggestion])
  }
  for (const command of commands) {
    const [first = '', second] = command.name.split(' ')
    add('', { word: first, summary: second === undefined ? command.summary : `${first} commands` })
    if (second !== undefined) add(first, { word: second, summary: command.summary })
    for (const { flags, summary } of optionsOf(command)) add(command.name, { word: longName(flags), summary })
  }
  return branches
}

function longName(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags
}

type Branches = ReadonlyMap<string, readonly Suggestion[]>

function bashScript(branches: Branches, all: readonly Values[]): string {
  const ofWords = all
    .filter(({ options }) => options.length === 0)
    .map(({ command, values, isAfterTarget = false }) => {
      const places = `'${command}'${isAfterTarget ? `|'${command} '*` : ''}`
      return `    ${places}) ${isAfterTarget ? 'some' : 'known'}='${values.join(' ')}' ;;`
    })
  const ofOptions = all
    .filter(({ options }) => options.length > 0)
    .map(({ command, options, values }) => {
      const places = options.map((option) => `'${command} ${option}'`)
      return `    ${places.join('|')}) known='${values.join(' ')}' ;;`
    })
  const cases = [...branches].map(
    ([start, suggestions]) => `    '${start}') words='${suggestions.map(({ word }) => word).join(' ')}' ;;`,
  )
  return `_pierhead() {
  local current="\${COMP_WORDS[COMP_CWORD]}" start='' words='' known='' some='' last='' place=''
  if ((COMP_CWORD > 1)); then last="\${COMP_WORDS[COMP_CWORD-1]}"; fi
  if ((COMP_CWORD > 2)); then start="\${COMP_WORDS[1]} \${COMP_WORDS[2]}"; elif ((COMP_CWORD > 1)); then start="\${COMP_WORDS[1]}"; fi
  case "$start" in
${cases.join('\n')}
    *) case "\${COMP_WORDS[1]}" in
${cases.map((one) => `  ${one}`).join('\n')}
      esac ;;
  esac
  for place in "\${COMP_WORDS[1]} $last" "\${COMP_WORDS[1]} \${COMP_WORDS[2]} $last"; do
    case "$place" in
${ofOptions.join('\n')}
    esac
  done
  if [[ -z $known && $current != -* ]]; then
    case "$start" in
${ofWords.join('\n')}
    esac
  fi
  if [[ -n $known ]]; then COMPREPLY=($(compgen -W "$known" -- "$current")); return; fi
  if [[ -n $some ]]; then COMPREPLY=($(compgen -W "$some" -- "$current"; compgen -f -- "$current")); return; fi
  if [[ $current == -* || -z $start || $words != --* ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
  if [[ \${#COMPREPLY[@]} == 0 ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _pierhead pierhead mcp
`
}

function zshScript(branches: Branches, all: readonly Values[]): string {
  return `#compdef pierhead mcp
autoload -U +X bashcompinit && bashcompinit
${bashScript(branches, all)}`
}

function fishScript(branches: Branches, all: readonly Values[]): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = [...branches].flatMap(([start, suggestions]) =>
    suggestions.map(({ word, summary }) => {
      const words = start.split(' ').filter((one) => one !== '')
      const when =
        words.length === 0
          ? '__fish_use_subcommand'
          : words.map((one) => `__fish_seen_subcommand_from ${one}`).join('; and ')
      const known = all.find(({ command, options }) => command === start && options.includes(word))
      const values = known === undefined ? '' : ` -x -a ${quoted(known.values.join(' '))}`
      const what = word.startsWith('--') ? `-l ${word.slice(2)}${values}` : `-a ${word}`
      return `complete -c pierhead -n ${quoted(when)} ${what} -d ${quoted(summary)}`
    }),
  )
  const words = all
    .filter(({ options }) => options.length === 0)
    .map(
      ({ command, values }) =>
        `complete -c pierhead -n ${quoted(`__fish_seen_subcommand_from ${command}`)} -f -a ${quoted(values.join(' '))}`,
    )
  return `${[...lines, ...words].join('\n')}\ncomplete -c mcp -w pierhead\n`
}
