import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { App } from 'pierhead'
import type { DriverOf } from 'pierhead/stores'
import type { Invocation, Option } from './command.ts'
import { wrongUsage } from './failure.ts'

/** The options that name a store instead of a server. */
export const STORE_OPTIONS: readonly Option[] = [
  {
    flags: '--store <store>',
    summary: 'the store of the server: sqlite:<file>, or a redis: or postgres: URL',
  },
  { flags: '--name <name>', summary: 'the name of the server, whose tasks are in the store' },
]

/** Runs something with the tasks of all callers in the store that the options name; undefined if they name none. */
export async function withTaskStore<Result>(
  { flags, io }: Invocation,
  use: (tasks: App['tasks']) => Promise<Result>,
): Promise<Result | undefined> {
  const place = flags.text('store')
  if (place === undefined) return undefined
  const name = flags.text('name')
  if (name === undefined)
    throw wrongUsage(
      '--store needs --name: several servers may share a store',
      "Add --name and the server's name, as in createServer({ name }).",
    )
  const store = await openStore(place, io.cwd)
  try {
    const { createServer } = await import('pierhead')
    const app = createServer({ name, version: '0.0.0', store, log: () => undefined })
    try {
      return await use(app.tasks)
    } finally {
      await app.close()
    }
  } finally {
    await store.close()
  }
}

async function openStore(place: string, cwd: string): Promise<DriverOf<'tasks'>> {
  const { postgres, redis, sqlite } = await import('pierhead/stores')
  if (/^rediss?:/.test(place)) return redis(place)
  if (/^postgres(?:ql)?:/.test(place)) return postgres(place)
  // The place may be a URL with a password, so it is not repeated.
  if (!place.startsWith('sqlite:'))
    throw wrongUsage('--store names no store', 'Write sqlite:films.db, or a redis: or postgres: URL.')
  const file = resolve(cwd, place.slice('sqlite:'.length))
  // Opening it would create it.
  if (!existsSync(file)) throw wrongUsage(`there is no file ${file}`, 'Name the file that the server uses.')
  return sqlite(file)
}
