import type { Command, Option } from '../../src/cli/command.ts'
import { GROUPS } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { GLOBAL_OPTIONS, TARGET_OPTIONS } from '../../src/cli/common-options.ts'
import { DOCUMENTS } from '../../src/cli/documents.ts'
import { EXIT, EXIT_MEANINGS } from '../../src/cli/exit.ts'
import { usageOf } from '../../src/cli/program.ts'
import { code, page, table } from './markdown.ts'

/** The page about the command, from its table. */
export function commandPage(): string {
  return page(
    'The command',
    `\`pierhead <command> --help\` prints the same. \`mcp\` is a second name of the program, and \`create-mcp-server\` of \`pierhead create\`. The guide is [The command](../guides/command.md).`,
    ...GROUPS.flatMap((group) => {
      const commands = COMMANDS.filter((command) => command.group === group)
      return commands.length === 0 ? [] : [`## ${group}`, ...commands.flatMap(commandText)]
    }),
    '## Options of every command',
    optionTable(GLOBAL_OPTIONS),
    '## Options for connecting',
    'Commands with a `[target]` have these too.',
    optionTable(TARGET_OPTIONS),
    '## JSON',
    'In a pipe, or with `--json`, a command prints one JSON document on stdout; `watch` and `dev` print one in each line. Members without a value are left out. An error is `{ "error": { "message", "hint", "exit" } }`, with the exit code; `run`, `dev` and `completion` print errors on stderr only.',
    table(
      ['command', 'prints'],
      COMMANDS.map(({ name }) => [code(name), DOCUMENTS[name] ?? 'nothing']),
    ),
    '## Exit codes',
    table(
      ['code', 'means'],
      Object.entries(EXIT_MEANINGS).map(([name, means]) => [String(EXIT[name as keyof typeof EXIT]), means]),
    ),
  )
}

function commandText(command: Command): readonly string[] {
  const { name, summary, details, arguments: list = [], options = [], examples } = command
  return [
    `### ${name}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}. ${details ?? ''}`.trim(),
    `\`\`\`\npierhead ${name} ${usageOf(command)}\n\`\`\``,
    ...(list.length > 0
      ? [
          table(
            ['argument', 'is'],
            list.map((one) => [code(one.name), one.summary]),
          ),
        ]
      : []),
    ...(options.length > 0 ? [optionTable(options)] : []),
    examples.map(([line, does]) => `\`\`\`sh\npierhead ${line}   # ${does}\n\`\`\``).join('\n\n'),
  ]
}

function optionTable(options: readonly Option[]): string {
  return table(
    ['option', 'does'],
    options.map(({ flags, summary, choices }) => [
      code(flags),
      `${summary}${choices === undefined ? '' : `: ${choices.join(', ')}`}`,
    ]),
  )
}
