import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { fileVault } from '../../src/auth-client.ts'
import { startWorld } from './engine-world.ts'

/** How often each of the two processes refreshes. */
const TIMES = 500
/** A thousand refreshes take their time on a busy computer. */
const LIMIT_MS = 180_000

test(
  '1,000 refreshes of two processes that share a vault lose no refresh token, and use none twice',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pierhead-engine-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const program = join(folder, 'program.mjs')
    await build({
      entryPoints: [fileURLToPath(new URL('engine-program.ts', import.meta.url))],
      outfile: program,
      bundle: true,
      platform: 'node',
      target: 'node20.19',
      conditions: ['pierhead-source'],
      format: 'esm',
      external: ['@napi-rs/keyring'],
      logLevel: 'error',
    })
    const world = await startWorld()
    const path = join(folder, 'vault.json')
    // So short that every client refreshes before its first request.
    world.issuer.ttl = 4
    await world.call('who', { vault: fileVault({ path }) })
    world.issuer.log.length = 0
    const run = promisify(execFile)
    const args = [program, world.server.url.href, path, String(TIMES)]
    const runs = await Promise.all([1, 2].map(() => run(process.execPath, args)))
    for (const { stdout } of runs) expect(JSON.parse(stdout)).toEqual(['ann notes:read'])
    expect(new Set(world.issuer.log)).toEqual(new Set(['grant refresh_token']))
    expect(world.issuer.log.length).toBeGreaterThanOrEqual(2 * TIMES)
    expect(world.pages).toHaveLength(1)
  },
  LIMIT_MS,
)
