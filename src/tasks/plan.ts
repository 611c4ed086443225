/** How the calls of a tool become tasks: its option `task`, with all defaults. */
export interface TaskPlan {
  readonly mode: 'optional' | 'required'
  readonly afterMs: number
  readonly ttlMs: number
  readonly pollMs: number
  readonly retries: number
  /** Infinity if any number may run at once. */
  readonly concurrency: number
  readonly onRestart: 'retry' | 'fail'
  readonly key: ((input: never, context: never) => string | undefined) | undefined
}

/** What a caller is, as far as its tasks are concerned. */
export interface TaskCaller {
  readonly owner: string
  readonly scope: string
  /** Where an anonymous caller is, if known. */
  readonly network?: string | undefined
}
