import { McpError, mcpError } from '../errors/error.ts'
import { BAD_DEFINITION } from '../errors/server.ts'
import { callable, COUNT, listOf, required, TEXT, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { Context } from '../server/context.ts'

/** `registered` until the app is first started, then `running` or `stopped`. */
export type AppState = 'registered' | 'running' | 'stopped'

/** The description of an app. */
export interface AppFacts {
  /** Identifies the app: 1 to 128 of the characters A-Z a-z 0-9 _ . - */
  readonly name: string
  /** The name for people. Default: none. */
  readonly title?: string | undefined
  /** Describes the app. Default: none. */
  readonly description?: string | undefined
  /** The version of the app. Default: none. */
  readonly version?: string | undefined
  /** The names of its tools, which callers see only while one of their apps runs. Default: none. */
  readonly tools?: readonly string[] | undefined
}

/** An app: a named unit of a server that is started and stopped as one. Its tools exist only while it runs. */
export interface AppUnit extends AppFacts {
  /** Runs before the app counts as running. If it throws, the app does not start. Default: nothing runs. */
  readonly start?: (() => void | Promise<void>) | undefined
  /** Runs before the app counts as stopped. If it throws, the app goes on running. Default: nothing runs. */
  readonly stop?: (() => void | Promise<void>) | undefined
}

/** An app as clients see it. */
export interface AppShown extends AppFacts {
  /** Whether the app runs. Its tools are available only while it does. */
  readonly state: AppState
}

/** The actions of clients that `allow` decides on. */
export type AppAction = 'register' | 'unregister' | 'start' | 'stop'

/** The options of `new Apps`. */
export interface AppsOptions {
  /**
   * Whether a client may act on an app. Default: clients may start and stop apps, but not register or unregister them.
   *
   * @example
   * new Apps(units, { allow: (action, app, { auth }) => auth?.['role'] === 'operator' })
   */
  readonly allow?:
    | ((action: AppAction, app: AppFacts, context: Context) => boolean | Promise<boolean>)
    | undefined
  /** The maximum number of apps. Default: 100. */
  readonly limit?: number | undefined
}

interface Entry {
  readonly unit: AppUnit
  /** Whether a client registered it; it then names tools, but does not control them. */
  readonly foreign: boolean
  state: AppState
  /** The last pending operation. */
  last: Promise<unknown>
}

const OPTIONS: KindsOf<AppsOptions> = { allow: callable<NonNullable<AppsOptions['allow']>>(), limit: COUNT }
const UNIT: KindsOf<AppUnit> = {
  name: required(TEXT),
  title: TEXT,
  description: TEXT,
  version: TEXT,
  tools: listOf(TEXT),
  start: callable<NonNullable<AppUnit['start']>>(),
  stop: callable<NonNullable<AppUnit['stop']>>(),
}
const NAME = /^[A-Za-z0-9_.-]{1,128}$/

/**
 * The apps of a server. Operations on one app run one after the other.
 *
 * @example
 * const units = new Apps([{ name: 'reports', tools: ['report'], start: () => db.open(), stop: () => db.close() }])
 * app.extend(apps(units))
 * await units.start('reports')
 */
export class Apps {
  readonly #entries = new Map<string, Entry>()
  readonly #owned = new Set<string>()
  readonly #listeners = new Set<() => void>()
  readonly #limit: number
  /** Whether a client may act on an app: the option, or its default. */
  readonly allow: NonNullable<AppsOptions['allow']>

  /** Registers the units without starting them. */
  constructor(units: readonly AppUnit[] = [], options: AppsOptions = {}) {
    checkOptions('Apps', options, OPTIONS)
    this.#limit = options.limit ?? 100
    this.allow = options.allow ?? ((action) => action === 'start' || action === 'stop')
    if (!Array.isArray(units)) throw badDefinition('apps must be a list: [{ name, tools, start, stop }]')
    for (const unit of units) this.register(unit)
  }

  /** Adds an app without starting it. */
  register(unit: AppUnit): AppShown {
    checkOptions(`app "${unit?.name}"`, unit, UNIT)
    return this.#add(unit, false)
  }

  /** Adds an app described by a client: it has no code and does not control tools. */
  registerForeign(facts: AppFacts): AppShown {
    return this.#add(facts, true)
  }

  /** Stops and removes an app. */
  async unregister(name: string): Promise<void> {
    await this.#inTurn(name, async (entry) => {
      if (entry.state === 'running') await entry.unit.stop?.()
      this.#entries.delete(name)
      this.#changed()
    })
  }

  /** Starts an app unless it is running; if its hook throws, the app stays stopped. */
  start(name: string): Promise<AppShown> {
    return this.#inTurn(name, async (entry) => {
      if (entry.state === 'running') return
      await entry.unit.start?.()
      this.#enter(entry, 'running')
    })
  }

  /** Stops an app if it is running. */
  stop(name: string): Promise<AppShown> {
    return this.#inTurn(name, async (entry) => {
      if (entry.state !== 'running') return
      await entry.unit.stop?.()
      this.#enter(entry, 'stopped')
    })
  }

  /** One app and its state. Throws if there is none of this name. */
  get(name: string): AppShown {
    return toShown(this.#find(name))
  }

  /** Every app and its state, in the order of registration. */
  list(): readonly AppShown[] {
    return [...this.#entries.values()].map(toShown)
  }

  /** The tools that exist only while one of their apps runs, including those of removed apps. */
  get tools(): ReadonlySet<string> {
    return this.#owned
  }

  /** Whether a tool exists now: it never belonged to an app, or one of its apps is running. */
  isThere(tool: string): boolean {
    if (!this.#owned.has(tool)) return true
    for (const { unit, foreign, state } of this.#entries.values())
      if (!foreign && state === 'running' && unit.tools?.includes(tool) === true) return true
    return false
  }

  /** Calls back on every change; returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #add(unit: AppUnit, foreign: boolean): AppShown {
    const problem = this.#problemWith(unit.name)
    if (problem !== undefined) throw foreign ? bad(problem) : badDefinition(problem)
    const entry: Entry = { unit, foreign, state: 'registered', last: Promise.resolve() }
    this.#entries.set(unit.name, entry)
    if (!foreign) for (const tool of unit.tools ?? []) this.#owned.add(tool)
    this.#changed()
    return toShown(entry)
  }

  #problemWith(name: string): string | undefined {
    if (!NAME.test(name)) return 'the name of an app must have 1 to 128 of the characters A-Z a-z 0-9 _ . -'
    if (this.#entries.has(name)) return `the app "${name}" is already registered`
    return this.#entries.size >= this.#limit ? `there are already ${this.#limit} apps` : undefined
  }

  #find(name: string): Entry {
    const entry = this.#entries.get(name)
    if (entry === undefined) throw bad(`there is no app "${name.slice(0, 128)}"; list the apps first`)
    return entry
  }

  /** Runs an operation on an app after the pending ones. */
  async #inTurn(name: string, act: (entry: Entry) => Promise<void>): Promise<AppShown> {
    const entry = this.#find(name)
    const done = entry.last.then(async () => {
      if (this.#entries.get(name) !== entry) throw bad(`the app "${name}" was removed`)
      await act(entry)
      return toShown(entry)
    })
    entry.last = done.catch(() => undefined)
    return done
  }

  #enter(entry: Entry, state: AppState): void {
    entry.state = state
    this.#changed()
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

function toShown({ unit, state }: Entry): AppShown {
  const { start: _start, stop: _stop, ...facts } = unit
  return { ...facts, state }
}

/** An error that the author of the server must fix. */
function badDefinition(reason: string): Error {
  return mcpError(BAD_DEFINITION, { item: 'apps', reason })
}

/** An error that the client must fix. */
function bad(reason: string): Error {
  return new McpError('bad_params', reason)
}
