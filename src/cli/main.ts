#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

await main(process.argv.slice(2))

/** Runs the command. The version is printed without loading anything else. */
async function main(args: readonly string[]): Promise<void> {
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-v' || args[0] === '-V')) {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
      readonly version: string
    }
    process.stdout.write(`${version}\n`)
    return
  }
  const { runProcess } = await import('./process.ts')
  await runProcess(args)
}
