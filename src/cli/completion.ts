import { optionsOf } from './arranged-line.ts'
import type { Command } from './command.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof SHELLS)[number]

/** The words that may follow a command. */
interface Suggestion {
  readonly word: string
  readonly summary: string
}

/** The script that makes a shell complete commands and options. It is fixed text: completing starts no server. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const branches = branchesOf(commands)
  if (shell === 'fish') return fishScript(branches)
  return shell === 'zsh' ? zshScript(branches) : bashScript(branches)
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

function bashScript(branches: ReadonlyMap<string, readonly Suggestion[]>): string {
  const cases = [...branches].map(
    ([start, suggestions]) => `    '${start}') words='${suggestions.map(({ word }) => word).join(' ')}' ;;`,
  )
  return `_pierhead() {
  local current="\${COMP_WORDS[COMP_CWORD]}" start='' words=''
  if ((COMP_CWORD > 2)); then start="\${COMP_WORDS[1]} \${COMP_WORDS[2]}"; elif ((COMP_CWORD > 1)); then start="\${COMP_WORDS[1]}"; fi
  case "$start" in
${cases.join('\n')}
    *) case "\${COMP_WORDS[1]}" in
${cases.map((one) => `  ${one}`).join('\n')}
      esac ;;
  esac
  if [[ $current == -* || -z $start || $words != --* ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
  if [[ \${#COMPREPLY[@]} == 0 ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _pierhead pierhead mcp
`
}

function zshScript(branches: ReadonlyMap<string, readonly Suggestion[]>): string {
  return `#compdef pierhead mcp
autoload -U +X bashcompinit && bashcompinit
${bashScript(branches)}`
}

function fishScript(branches: ReadonlyMap<string, readonly Suggestion[]>): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = [...branches].flatMap(([start, suggestions]) =>
    suggestions.map(({ word, summary }) => {
      const words = start.split(' ').filter((one) => one !== '')
      const when =
        words.length === 0
          ? '__fish_use_subcommand'
          : words.map((one) => `__fish_seen_subcommand_from ${one}`).join('; and ')
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
      return `complete -c pierhead -n ${quoted(when)} ${what} -d ${quoted(summary)}`
    }),
  )
  return `${lines.join('\n')}\ncomplete -c mcp -w pierhead\n`
}
