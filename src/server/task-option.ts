import { toMs, type Duration } from '../base/duration.ts'
import { callable, COUNT, DURATION, oneOf, type Kind, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_DEFINITION } from '../errors/server.ts'
import type { TaskPlan } from '../tasks/plan.ts'
import type { Context } from './context.ts'

/** The option `task` of a tool: how its calls become tasks, which outlive their request. */
export interface TaskOptions<Input = never, Ctx = Context> {
  /**
   * Whether calls may become tasks (`optional`), or always do (`required`): clients that cannot wait for a task then get an error, from
   * 2025-11-25 on. Default: `optional`.
   */
  readonly mode?: 'optional' | 'required' | undefined
  /** How long a call may take before it becomes a task, at 2026-07-28. Default: `'2s'`. */
  readonly after?: Duration | undefined
  /**
   * How long a task is kept after it was created, unless its client asks for another time. Either is cut to `limits.taskMs`.
   * Default: `'1h'`.
   */
  readonly ttl?: Duration | undefined
  /** How long clients should wait between two questions about the task; at least 50 ms. Default: `'1s'`. */
  readonly poll?: Duration | undefined
  /** How often a task is tried again after an error that nobody meant to throw, after growing pauses. Default: 0. */
  readonly retries?: number | undefined
  /** How many handlers of the tool run at once, in tasks or not; further calls wait. Default: any number. */
  readonly concurrency?: number | undefined
  /**
   * Identifies what a call is about: a call with the same key of the same caller returns the existing task, unless that ended with an
   * error or was cancelled. With other arguments it is rejected. Callers without credentials share keys within their session; without one they have
   * none. Default: every call is a task of its own.
   *
   * @example
   * task: { key: ({ order }) => order }
   */
  readonly key?: ((input: Input, context: Ctx) => string | undefined) | undefined
  /** Whether work that was running when the process ended begins again, or fails. Default: `fail`; `retry` if `hints` say that the tool is idempotent or changes nothing. */
  readonly onRestart?: 'retry' | 'fail' | undefined
}

/** The option `task` of a tool, in full or as its mode alone. */
export type TaskOption<Input = never, Ctx = Context> = 'optional' | 'required' | TaskOptions<Input, Ctx>

/** The shortest pause between two polls: without one, a client would be busy with nothing else. */
export const LEAST_POLL_MS = 50

const WHOLE: Kind<number> = {
  must: 'a whole number, 0 or above',
  is: (value) => Number.isInteger(value) && (value as number) >= 0,
  repeats: true,
}

const TASK_OPTIONS: KindsOf<TaskOptions> = {
  mode: oneOf('optional', 'required'),
  after: DURATION,
  ttl: {
    must: `a duration above 0, such as '1h'`,
    is: (value) => DURATION.is(value) && toMs(value as Duration, 'ttl') > 0,
    repeats: true,
  },
  poll: DURATION,
  retries: WHOLE,
  concurrency: COUNT,
  key: callable<NonNullable<TaskOptions['key']>>('a function: (input) => text'),
  onRestart: oneOf('retry', 'fail'),
}

/** Names that other systems have for these options. */
const ALIASES: ReadonlyMap<string, string> = new Map([['retry', 'retries']])

/** The plan of a tool from its option `task`; undefined if its calls never become tasks. Throws an error that names the option if it cannot be used. */
export function toPlan(item: string, option: unknown, repeatable: boolean): TaskPlan | undefined {
  if (option === undefined) return undefined
  const where = `${item} task`
  const given = typeof option === 'string' ? { mode: option } : option
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const reason =
      "task must be 'optional', 'required' or an object: { mode, after, ttl, poll, retries, concurrency, key, onRestart }"
    throw mcpError(BAD_DEFINITION, { item: item.slice(0, 256), reason })
  }
  checkOptions(where, given, TASK_OPTIONS, ALIASES)
  const options = given as TaskOptions
  const ms = (name: 'after' | 'ttl' | 'poll', usual: Duration): number =>
    toMs(options[name] ?? usual, `${where} ${name}`)
  return {
    mode: options.mode ?? 'optional',
    afterMs: ms('after', '2s'),
    ttlMs: ms('ttl', '1h'),
    pollMs: Math.max(LEAST_POLL_MS, Math.round(ms('poll', '1s'))),
    retries: options.retries ?? 0,
    concurrency: options.concurrency ?? Infinity,
    onRestart: options.onRestart ?? (repeatable ? 'retry' : 'fail'),
    key: options.key as TaskPlan['key'],
  }
}
