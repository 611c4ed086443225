import { lstatSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundle, BUDGETS, CLIENT_PROGRAM, type Bundle } from './bundle.ts'
import { pack } from './package.ts'
import { main, run } from './run.ts'

const LIMITS = { packages: 6, installBytes: 6_000_000 }

/** A stdio server as a user writes it. */
const SERVER_PROGRAM = `
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
  const server = await bundle({
    program: SERVER_PROGRAM,
    platform: 'node',
    from: 'built',
    atOnce: ['listen.'],
  })
  const client = await bundle({ program: CLIENT_PROGRAM, platform: 'browser', from: 'built' })
  tell('stdio server', server, BUDGETS.server)
  tell('HTTP client for browsers', client, BUDGETS.client)
  const over = [
    packages > LIMITS.packages && 'the install has too many packages',
    bytes > LIMITS.installBytes && 'the install is too large',
    server.gzip > BUDGETS.server && 'the bundled stdio server is too large',
    client.gzip > BUDGETS.client && 'the bundled HTTP client is too large',
    client.imports.length + client.nodeGlobals.length > 0 &&
      `the HTTP client needs ${[...client.imports, ...client.nodeGlobals].join(', ')}`,
  ].filter((breach) => breach !== false)
  if (over.length > 0) throw new Error(over.join('; '))
}

function tell(name: string, { gzip, later }: Bundle, most: number): void {
  console.log(`${name}, bundled, gzip: ${kilobytes(gzip)} (at most ${kilobytes(most)})`)
  for (const [file, size] of later) console.log(`  loaded when needed: ${file} ${kilobytes(size)}`)
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
