import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, isStale } from './build.ts'
import { main } from './run.ts'

const SERVER = resolve('examples/demo/server.ts')

/**
 * Builds dist if it is missing or stale, then runs the demo server in this process, so that signals reach it. With `--auth`, callers
 * must log in.
 */
async function start(): Promise<void> {
  if (!existsSync(SERVER)) throw new Error(`${SERVER} is missing`)
  if (isStale()) {
    console.error('building dist')
    await build()
  }
  process.argv[1] = SERVER
  await import(pathToFileURL(SERVER).href)
}

await main(start)
