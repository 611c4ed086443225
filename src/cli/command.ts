import type { ExitCode } from './exit.ts'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import type { Opened } from './open.ts'

/** The headings under which `pierhead --help` lists the commands. */
export const GROUPS = ['Build a server', 'Use a server', 'Check a server', 'Set up'] as const

export type Group = (typeof GROUPS)[number]

/** A positional argument. */
export interface Argument {
  readonly name: string
  readonly summary: string
  readonly isOptional?: boolean
  /** Whether it is a URI, which may look like a target. */
  readonly isUri?: boolean
  /** Takes all words that are left; only the last one may. */
  readonly isMany?: boolean
  /** Values that shells suggest. */
  readonly values?: readonly string[]
}

/** An option, written as in the help: `-t, --timeout <time>`, or `--all` for a flag. */
export interface Option {
  readonly flags: string
  readonly summary: string
  /** May be given several times. */
  readonly isMany?: boolean
  /** The only values that it takes. */
  readonly choices?: readonly string[]
  /** Values that shells suggest, if the command checks them itself. */
  readonly values?: readonly string[]
}

/** One command: everything that help, completion and the reference page say of it, and the function that does it. */
export interface Command {
  /** The words after `pierhead`: `call`, or `tasks list`. */
  readonly name: string
  readonly group: Group
  /** One line for the list of commands, without a full stop. */
  readonly summary: string
  /** More for its own help, in sentences. */
  readonly details?: string
  /** Whether it talks to a server: then its first word may be a target, and it has the options for connecting. */
  readonly hasTarget?: boolean
  /** The option that takes the place of the target. */
  readonly insteadOfTarget?: string
  /** Whether it ends by itself when the time of `--total` is over, with what it has. */
  readonly hasOwnTotal?: boolean
  readonly arguments?: readonly Argument[]
  readonly options?: readonly Option[]
  /** Command lines without `pierhead`, and what they do. */
  readonly examples: readonly (readonly [line: string, does: string])[]
  run(invocation: Invocation): Promise<ExitCode | void>
}

/** A command line that was parsed. */
export interface Invocation {
  /** The positional arguments, without the target. */
  readonly words: readonly string[]
  readonly flags: Flags
  readonly io: Io
  readonly output: Output
  /** The program after `--`, for commands whose own argument is a target. */
  readonly rest: readonly string[]
  /** Connects to the target. The client is closed when the command ends. */
  open(options?: OpenOptions): Promise<Opened>
}

export interface OpenOptions {
  /** The revision to use unless `--revision` names one. Default: the newest that both have. */
  readonly revision?: string | undefined
  /** How long to wait for an answer unless `--timeout` says so. Default: 60 s. */
  readonly timeout?: string | undefined
  /** Whether to answer questions of the server in the terminal, if there is one. Default: `true`. */
  readonly asks?: boolean | undefined
  /** Variables for a program, unless the target or `--env` has others. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Is called with what a program prints to stderr, and with warnings about what a server does. Default: `--verbose` prints them. */
  readonly onNote?: ((kind: 'stderr' | 'warning', text: string) => void) | undefined
}

/** The options that were given, by their long name. */
export class Flags {
  readonly #values: ReadonlyMap<string, unknown>

  constructor(values: Iterable<readonly [name: string, value: unknown]>) {
    this.#values = new Map(values)
  }

  /** Whether a flag was given. */
  is(name: string): boolean {
    return this.#values.get(name) === true
  }

  /** `true`, `false` for `--no-…`, or undefined if neither was given. */
  choice(name: string): boolean | undefined {
    const value = this.#values.get(name)
    return typeof value === 'boolean' ? value : undefined
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name)
    return typeof value === 'string' ? value : undefined
  }

  list(name: string): readonly string[] {
    const value = this.#values.get(name)
    return Array.isArray(value) ? (value as readonly string[]) : []
  }
}
