import { lstatSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { pack } from './package.ts'
import { main, run } from './run.ts'

const LIMITS = { packages: 6, installBytes: 6_000_000, startBytes: 48_000 }

/** A stdio server as a user writes it. */
const ENTRY = `
import { createServer } from 'pierhead'
const app = createServer({ name: 'size', version: '1.0.0' })
app.tool('add', { input: { type: 'object' } }, () => 'ok')
await app.listen()
`

async function checkSizes(): Promise<void> {
  const { packages, bytes } = measureInstall()
  console.log(
    `install: ${packages} packages, ${megabytes(bytes)} (at most ${LIMITS.packages}, ${megabytes(LIMITS.installBytes)})`,
  )
  const { start, later } = await measureBundle()
  console.log(`stdio server, bundled, gzip: ${kilobytes(start)} (at most ${kilobytes(LIMITS.startBytes)})`)
  for (const [name, size] of later) console.log(`  loaded when needed: ${name} ${kilobytes(size)}`)
  const over = [
    packages > LIMITS.packages && 'the install has too many packages',
    bytes > LIMITS.installBytes && 'the install is too large',
    start > LIMITS.startBytes && 'the bundled stdio server is too large',
  ].filter((breach) => breach !== false)
  if (over.length > 0) throw new Error(over.join('; '))
}

function measureInstall(): { readonly packages: number; readonly bytes: number } {
  const archive = resolve(pack())
  const folder = mkdtempSync(join(tmpdir(), 'install-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    run(
      'npm',
      ['install', archive, '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'],
      folder,
    )
    const modules = join(folder, 'node_modules')
    const installed = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'))
    const files = readdirSync(modules, { recursive: true, encoding: 'utf8' }).map((path) =>
      join(modules, path),
    )
    const sizes = files.map((path) => lstatSync(path)).map((found) => (found.isFile() ? found.size : 0))
    return { packages: Object.keys(installed.packages).length, bytes: sum(sizes) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a stdio server loads, and what it leaves for later: schema libraries, other transports. */
async function measureBundle(): Promise<{
  readonly start: number
  readonly later: readonly (readonly [string, number])[]
}> {
  const { metafile, outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: process.cwd(), sourcefile: 'entry.js' },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outdir: 'bundle',
    write: false,
    metafile: true,
    logLevel: 'error',
  })
  const outputs = new Map(Object.entries(metafile.outputs))
  const serves = [...outputs].filter(
    ([path, { inputs }]) =>
      basename(path) === 'stdin.js' ||
      Object.keys(inputs).some((input) => input.includes('dist/transport/stdio/')),
  )
  const loaded = new Set<string>()
  const load = (path: string): void => {
    if (loaded.has(path) || !outputs.has(path)) return
    loaded.add(path)
    for (const next of outputs.get(path)?.imports ?? []) if (next.kind === 'import-statement') load(next.path)
  }
  for (const [path] of serves) load(path)
  const sizes = new Map<string, number>(
    outputFiles.map((file) => [`bundle/${basename(file.path)}`, gzipSync(file.contents).length] as const),
  )
  const later = [...sizes].filter(([path]) => !loaded.has(path))
  return { start: sum([...loaded].map((path) => sizes.get(path) ?? 0)), later }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(2)} MB`
}

if (import.meta.filename === process.argv[1]) await main(checkSizes)
