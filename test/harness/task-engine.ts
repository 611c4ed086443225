import { LIMITS } from '../../src/protocol/limits.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { McpError, mcpError } from '../../src/errors/error.ts'
import { INTERNAL } from '../../src/errors/wire.ts'
import { DIALECTS } from '../../src/protocol/switches.ts'
import { Call } from '../../src/rpc/call.ts'
import type { Result } from '../../src/rpc/dispatch.ts'
import { MemoryTaskStore } from '../../src/store/tasks-memory.ts'
import type { TaskDraft } from '../../src/tasks/host.ts'
import type { TaskPlan } from '../../src/tasks/plan.ts'
import type { TaskHead, TaskRecord } from '../../src/tasks/record.ts'
import { Run } from '../../src/tasks/run.ts'
import type { TaskStore } from '../../src/tasks/store.ts'
import { Tasks } from '../../src/tasks/tasks.ts'
import { FakeClock } from './task-clock.ts'

/** What the handler of a tool does in one attempt. */
export type Work = (run: Run) => Result | Promise<Result>

const USUAL = Object.fromEntries(Object.entries(LIMITS).map(([name, { usual }]) => [name, usual])) as Limits

export const PLAN: TaskPlan = {
  mode: 'optional',
  afterMs: 2000,
  ttlMs: 3_600_000,
  pollMs: 1000,
  retries: 0,
  concurrency: Infinity,
  onRestart: 'fail',
  key: undefined,
}

/** A process with tasks, without a server: its tools are functions. */
export class Node {
  readonly clock: FakeClock
  readonly store: TaskStore
  readonly tasks: Tasks
  readonly works: Map<string, { readonly plan: TaskPlan; readonly work: Work }> = new Map()
  readonly reports: string[] = []

  constructor(
    options: {
      clock?: FakeClock
      store?: TaskStore
      limits?: Partial<Limits>
      isInMemory?: boolean
      server?: string
    } = {},
  ) {
    this.clock = options.clock ?? new FakeClock()
    this.store = options.store ?? new MemoryTaskStore()
    this.tasks = new Tasks(
      {
        limits: { ...USUAL, ...options.limits },
        server: options.server ?? 'films',
        tools: () => [...this.works.keys()],
        planOf: (tool) => this.works.get(tool)?.plan,
        attempt: (run) => this.#begin(run),
        toError: (thrown) => (thrown instanceof McpError ? thrown : mcpError(INTERNAL, { reference: 'r' })),
        report: (_, message) => void this.reports.push(message),
      },
      { store: this.store, isInMemory: options.isInMemory ?? true, clock: this.clock, random: () => 0 },
    )
  }

  tool(name: string, work: Work, plan: Partial<TaskPlan> = {}): this {
    this.works.set(name, { plan: { ...PLAN, ...plan }, work })
    return this
  }

  /** Starts a task; throws if there is no room. */
  async start(tool: string, draft: Partial<TaskDraft> = {}): Promise<TaskHead> {
    const run = new Run(this.tasks, tool, this.works.get(tool)?.plan)
    run.call = callOf(run)
    const begun = await this.tasks.begin(run, {
      caller: { owner: 'ann', scope: 'ann' },
      key: '',
      ttlMs: undefined,
      request: {
        revision: '2026-07-28',
        params: { name: tool },
        client: undefined,
        capabilities: {},
        auth: undefined,
        ip: undefined,
      },
      ...draft,
    })
    if (begun.outcome === 'rejected') throw begun.error
    if (begun.outcome === 'created')
      this.tasks.settle(run, new Promise((resolve) => resolve(this.#begin(run))))
    return begun.head
  }

  async record(id: string): Promise<TaskRecord | undefined> {
    return this.store.get(id)
  }

  async status(id: string): Promise<string | undefined> {
    return (await this.store.head(id))?.status
  }

  /** Begins an attempt as a server does: its call is there before its handler has a place. */
  #begin(run: Run): Result | Promise<Result> {
    run.call = callOf(run)
    return this.tasks.gates.enter(run, () => (this.works.get(run.tool) as { work: Work }).work(run))
  }
}

function callOf(run: Run): Call {
  return new Call(
    1,
    'tools/call',
    { name: run.tool },
    {
      peer: { dialect: DIALECTS['2026-07-28'], client: undefined, capabilities: {}, session: undefined },
      channel: run,
      source: {},
    },
  )
}
