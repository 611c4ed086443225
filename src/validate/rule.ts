import type { Revision } from '../protocol/revisions.ts'
import type { Message } from './message.ts'
import type { Entry } from './trace.ts'

export const TRANSPORTS = ['stdio', 'http', 'sse', 'ws', 'tcp'] as const

/** How the validator reaches a peer. `http` is Streamable HTTP, `sse` the older HTTP+SSE, `tcp` also TLS and Unix sockets. */
export type Transport = (typeof TRANSPORTS)[number]

/** How binding a rule is: the words of the specification, or what all implementations do. */
export type Level = 'must' | 'should' | 'may' | 'convention'

/** What a check found out. */
export type Verdict =
  | {
      readonly is: 'passed'
      /** What was measured, if reports should show it. */
      readonly note?: string | undefined
    }
  | {
      readonly is: 'failed'
      /** What the peer did, in a sentence. */
      readonly found: string
      /** The entries of the trace that show it. Default: the last ones of the check. */
      readonly entries?: readonly Entry[] | undefined
    }
  /** The rule does not concern this peer, for instance because it offers no tools. */
  | { readonly is: 'absent'; readonly why: string }
  /** The rule concerns this peer, but was not checked. */
  | { readonly is: 'unchecked'; readonly why: string }

/** A rule of the protocol, and how it is checked. */
export interface Rule<Subject> {
  /** The id in the list of rules, such as `R005`; ids of our own checks begin with `V`. */
  readonly id: string
  readonly level: Level
  /** The revisions that have the rule. */
  readonly revisions: readonly Revision[]
  /** The transports on which it can be seen. */
  readonly transports: readonly Transport[]
  /** The rule in one sentence. */
  readonly rule: string
  /** How it is checked, in one sentence. */
  readonly how: string
  /** What to change in a peer that breaks it. */
  readonly fix: string
  /** Checking it calls tools of the server, which `--allow-calls` permits. */
  readonly calls?: boolean | undefined
  /** It looks at everything that was received, so it is checked after the others. */
  readonly isLast?: boolean | undefined
  check(subject: Subject): Promise<Verdict> | Verdict
}

export const passed: Verdict = { is: 'passed' }

/** Passes, and says what was measured. */
export function noted(note: string): Verdict {
  return { is: 'passed', note }
}

export function failed(found: string, entries?: readonly Entry[]): Verdict {
  return { is: 'failed', found, entries }
}

export function absent(why: string): Verdict {
  return { is: 'absent', why }
}

export function unchecked(why: string): Verdict {
  return { is: 'unchecked', why }
}

/** Passes if there is nothing to say against it. */
export function unless(found: string | undefined): Verdict {
  return found === undefined ? passed : failed(found)
}

/** The most faults that one finding names. */
const MOST_FAULTS = 5

/** Passes if there are no faults, and names the first ones otherwise. */
export async function noneOf(faults: Iterable<string> | AsyncIterable<string>): Promise<Verdict> {
  const named: string[] = []
  let more = 0
  for await (const fault of faults)
    if (named.length < MOST_FAULTS) named.push(fault)
    else more++
  if (named.length === 0) return passed
  return failed(`${named.join('; ')}${more === 0 ? '' : `; and ${more} more`}`)
}

/** Passes if an error has a code; `what` is what it answers. */
export function answeredWith(code: number, error: Message, what: string): Verdict {
  return unless(error['code'] === code ? undefined : `${what} is answered with code ${String(error['code'])}`)
}

/** Sets of revisions, by the letters of the list of rules: A is 2024-11-05, E is 2026-07-28. */
export const ALL: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
export const A_TO_D: readonly Revision[] = ALL.slice(0, 4)
export const B_TO_D: readonly Revision[] = ALL.slice(1, 4)
export const B_TO_E: readonly Revision[] = ALL.slice(1)
export const C_TO_D: readonly Revision[] = ALL.slice(2, 4)
export const C_TO_E: readonly Revision[] = ALL.slice(2)
export const D_ONLY: readonly Revision[] = ['2025-11-25']
export const D_TO_E: readonly Revision[] = ALL.slice(3)
export const E_ONLY: readonly Revision[] = ['2026-07-28']
