import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'

/** A server and its client over WebSocket, in one program. */
const PROGRAM = `
  import { createServer } from './src/index.ts'
  import { connect } from './src/client.ts'
  const app = createServer({ name: 'bundled', version: '1' }).tool('add', {}, async () => 'added')
  const running = await app.listen({ ws: { port: 0 } })
  const client = await connect(running.addresses.ws)
  console.error(await client.call('add'), typeof globalThis.require)
  await client.close()
  await running.close()`

/** What programs put in front of their bundles so that CommonJS code works. */
const BANNER = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"

test.each([
  [true, ''],
  [false, ''],
  [false, BANNER],
])('a bundle that is an ES module serves WebSocket · splitting %s %s', async (splitting, banner) => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-bundle-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await build({
    stdin: { contents: PROGRAM, resolveDir: resolve('.'), sourcefile: 'main.ts', loader: 'ts' },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    entryNames: 'main',
    bundle: true,
    splitting,
    platform: 'node',
    format: 'esm',
    conditions: ['pierhead-source'],
    logLevel: 'error',
    banner: { js: banner },
  })
  const child = spawn(process.execPath, [join(folder, 'main.mjs')])
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
  const [code] = (await once(child, 'close')) as [number]
  expect([code, lines]).toEqual([0, ['added undefined']])
})
