import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build, type Rollup } from 'vite'
import { gzipSize } from './bundle.ts'
import type { Program } from './programs.ts'

export interface ViteBundle {
  /** The compressed size of the first chunk and those that it imports statically. */
  readonly initial: number
  readonly total: number
}

/** Bundles a program with Vite: as an application for browsers, or with every package inside for Node. */
export async function bundleVite({
  text,
  platform,
}: Pick<Program, 'text' | 'platform'>): Promise<ViteBundle> {
  // Vite resolves packages from the folder of the program, so it must be inside the repository.
  mkdirSync('.cache', { recursive: true })
  const folder = mkdtempSync(resolve('.cache', 'size-'))
  try {
    const input = join(folder, 'program.js')
    writeFileSync(input, text)
    const built = await build({
      configFile: false,
      root: process.cwd(),
      publicDir: false,
      logLevel: 'silent',
      mode: 'production',
      ...(platform === 'node' && { ssr: { noExternal: true, target: 'node' } }),
      build: {
        write: false,
        minify: true,
        target: 'es2022',
        ssr: platform === 'node',
        rollupOptions: { input },
      },
    })
    return sizesOf((built as Rollup.RollupOutput).output)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function sizesOf(output: Rollup.RollupOutput['output']): ViteBundle {
  const chunks = new Map(
    output.flatMap((one) => (one.type === 'chunk' ? [[one.fileName, one] as const] : [])),
  )
  // Iterating a set also visits elements added meanwhile.
  const first = new Set([...chunks.values()].filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName))
  for (const name of first) for (const next of chunks.get(name)?.imports ?? []) first.add(next)
  let [initial, total] = [0, 0]
  for (const [name, { code }] of chunks) {
    const size = gzipSize(code)
    total += size
    if (first.has(name)) initial += size
  }
  return { initial, total }
}
