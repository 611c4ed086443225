import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { App } from 'pierhead'
import { McpError } from 'pierhead/client'
import type { DriverOf } from 'pierhead/stores'
import type { Invocation, Option } from './command.ts'
import { EXIT } from './exit.ts'
import { Failure, wrongUsage } from './failure.ts'
import { ownError, storeModules, type StoreModules } from './project-copy.ts'

/** The options that name a store instead of a server. */
export const STORE_OPTIONS: readonly Option[] = [
  {
    flags: '--store <store>',
    summary: 'the store of the server: sqlite:<file>, or a redis: or postgres: URL',
  },
  { flags: '--name <name>', summary: 'the name of the server, whose tasks are in the store' },
]

/** Does something with the tasks of a server; `names` are those of the servers that have tasks in the store. */
type StoreUse<Result> = (tasks: App['tasks'], names: () => Promise<readonly string[]>) => Promise<Result>

/** How many tasks are read to find the names of their servers. */
const MOST_NAMED = 1_000

async function namesIn({ tasks }: DriverOf<'tasks'>): Promise<readonly string[]> {
  const heads = await tasks.list({ limit: MOST_NAMED })
  return [...new Set(heads.map(({ server }) => server))].filter((name) => name !== '')
}

/** Runs something with the tasks of all callers in the store that the options name; undefined if they name none. */
export async function withTaskStore<Result>(
  { flags, io, output }: Invocation,
  use: StoreUse<Result>,
): Promise<Result | undefined> {
  const [place, name] = [flags.text('store'), flags.text('name')]
  if (place === undefined && name !== undefined)
    throw wrongUsage(
      '--name is only for --store: a server at a URL has one name',
      'Add --store, or leave --name out.',
    )
  if (place === undefined) return undefined
  if (name === undefined)
    throw wrongUsage(
      '--store needs --name: several servers may share a store',
      "Add --name and the server's name, as in createServer({ name }).",
    )
  output.hide([passwordOf(place)])
  try {
    const modules = await storeModules(io)
    return await withStore(modules, await openStore(modules, place, io.cwd), name, use)
  } catch (error) {
    throw withReach(ownError(error))
  }
}

async function withStore<Result>(
  { createServer }: StoreModules,
  store: DriverOf<'tasks'>,
  name: string,
  use: StoreUse<Result>,
): Promise<Result> {
  try {
    const app = createServer({ name, version: '0.0.0', store, log: () => undefined })
    try {
      return await use(app.tasks, () => namesIn(store))
    } finally {
      await app.close()
    }
  } finally {
    await store.close()
  }
}

/** Kinds of errors of a store that cannot be used from here at all. */
const OUT_OF_REACH = /^(?:store_unreachable|(?:redis|bullmq|postgres|sqlite)_unavailable)$/

/** An error of the store, which is the target here. */
function withReach(thrown: unknown): unknown {
  if (!(thrown instanceof McpError) || !OUT_OF_REACH.test(thrown.kind)) return thrown
  const { kind, message, hint } = thrown
  return kind === 'store_unreachable'
    ? new Failure('the store cannot be reached', {
        hint: 'Check that it runs, and that the address and the credentials in --store are right.',
        exit: EXIT.unreachable,
        cause: thrown,
      })
    : new Failure(message, { hint, exit: EXIT.unreachable, cause: thrown })
}

/** The password in the URL of a store. */
function passwordOf(place: string): string | undefined {
  return /^\w+:\/\/[^/@]*?:([^/]*)@/.exec(place)?.[1]
}

async function openStore(
  { stores: { postgres, redis, sqlite } }: StoreModules,
  place: string,
  cwd: string,
): Promise<DriverOf<'tasks'>> {
  if (/^rediss?:/.test(place)) return redis(place)
  if (/^postgres(?:ql)?:/.test(place)) return postgres(place)
  // The place may be a URL with a password, so it is not repeated.
  if (!place.startsWith('sqlite:'))
    throw wrongUsage('--store names no store', 'Write sqlite:films.db, or a redis: or postgres: URL.')
  const file = resolve(cwd, place.slice('sqlite:'.length))
  // Opening it would create it.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw wrongUsage(`there is no file ${file}`, 'Name the file that the server uses.')
  return sqlite(file)
}
