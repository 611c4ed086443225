import { McpError, mcpError } from '../errors/error.ts'
import { BAD_DEFINITION } from '../errors/server.ts'
import { callable, COUNT, listOf, required, TEXT, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { Context } from '../server/context.ts'

export type AppState = 'registered' | 'running' | 'stopped'

/** What an app says about itself. */
export interface AppFacts {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly version?: string
  /** The names of its tools. */
  readonly tools?: readonly string[]
}

/** An app: a named unit of a server that is started and stopped as one. Its tools are there only while it runs. */
export interface AppUnit extends AppFacts {
  readonly start?: () => void | Promise<void>
  readonly stop?: () => void | Promise<void>
}

/** An app as it is told. */
export interface AppShown extends AppFacts {
  readonly state: AppState
}

export type AppAction = 'register' | 'unregister' | 'start' | 'stop'

export interface AppsOptions {
  /** Whether a client may do something to an app; unless given, clients may start and stop them. */
  readonly allow?: (action: AppAction, app: AppFacts, context: Context) => boolean | Promise<boolean>
  /** How many apps there may be; 100 unless given. */
  readonly limit?: number
}

interface Entry {
  readonly unit: AppUnit
  /** Whether a client registered it; then it names tools, but has no power over them. */
  readonly foreign: boolean
  state: AppState
  /** The last of what is being done to it. */
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

/** The apps of a server. What is done to one app happens in turn. */
export class Apps {
  readonly #entries = new Map<string, Entry>()
  readonly #owned = new Set<string>()
  readonly #listeners = new Set<() => void>()
  readonly #limit: number
  readonly allow: NonNullable<AppsOptions['allow']>

  constructor(units: readonly AppUnit[] = [], options: AppsOptions = {}) {
    checkOptions('Apps', options, OPTIONS)
    this.#limit = options.limit ?? 100
    this.allow = options.allow ?? ((action) => action === 'start' || action === 'stop')
    if (!Array.isArray(units)) throw badDefinition('apps are a list: [{ name, tools, start, stop }]')
    for (const unit of units) this.register(unit)
  }

  /** Adds an app, which does not run yet. */
  register(unit: AppUnit): AppShown {
    checkOptions(`app "${unit?.name}"`, unit, UNIT)
    return this.#add(unit, false)
  }

  /** Adds an app that a client describes: it has no code, and no power over tools. */
  registerForeign(facts: AppFacts): AppShown {
    return this.#add(facts, true)
  }

  /** Takes an app away, stopping it first. */
  async unregister(name: string): Promise<void> {
    await this.#inTurn(name, async (entry) => {
      if (entry.state === 'running') await entry.unit.stop?.()
      this.#entries.delete(name)
      this.#changed()
    })
  }

  /** Starts an app unless it runs; a hook that throws leaves it as it was. */
  start(name: string): Promise<AppShown> {
    return this.#inTurn(name, async (entry) => {
      if (entry.state === 'running') return
      await entry.unit.start?.()
      this.#enter(entry, 'running')
    })
  }

  /** Stops an app if it runs. */
  stop(name: string): Promise<AppShown> {
    return this.#inTurn(name, async (entry) => {
      if (entry.state !== 'running') return
      await entry.unit.stop?.()
      this.#enter(entry, 'stopped')
    })
  }

  get(name: string): AppShown {
    return toShown(this.#find(name))
  }

  list(): readonly AppShown[] {
    return [...this.#entries.values()].map(toShown)
  }

  /** The tools that are there only while an app of theirs runs, also when it was taken away. */
  get tools(): ReadonlySet<string> {
    return this.#owned
  }

  /** Whether a tool is there: it never belonged to an app, or one that it belongs to runs. */
  isThere(tool: string): boolean {
    if (!this.#owned.has(tool)) return true
    for (const { unit, foreign, state } of this.#entries.values())
      if (!foreign && state === 'running' && unit.tools?.includes(tool) === true) return true
    return false
  }

  /** Calls back on every change; returns what ends it. */
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
    if (!NAME.test(name)) return 'the name of an app has 1 to 128 of the characters A-Z a-z 0-9 _ . -'
    if (this.#entries.has(name)) return `the app "${name}" is registered already`
    return this.#entries.size >= this.#limit ? `there are ${this.#limit} apps already` : undefined
  }

  #find(name: string): Entry {
    const entry = this.#entries.get(name)
    if (entry === undefined) throw bad(`there is no app "${name.slice(0, 128)}"; list the apps first`)
    return entry
  }

  /** Does something to an app after what is being done to it already. */
  async #inTurn(name: string, act: (entry: Entry) => Promise<void>): Promise<AppShown> {
    const entry = this.#find(name)
    const done = entry.last.then(async () => {
      if (this.#entries.get(name) !== entry) throw bad(`the app "${name}" was taken away`)
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

/** What the author of a server has to correct. */
function badDefinition(reason: string): Error {
  return mcpError(BAD_DEFINITION, { item: 'apps', reason })
}

/** What a client has to correct. */
function bad(reason: string): Error {
  return new McpError('bad_params', reason)
}
