import { lstatSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pack } from '../package.ts'
import { run } from '../run.ts'

const LIMITS = { packages: 6, bytes: 6_000_000 }

/** Installs the package as its users do, and fails if the install is too large. */
export function checkInstall(): void {
  const { packages, bytes } = measureInstall()
  console.log(
    `install: ${packages} packages, ${megabytes(bytes)} (at most ${LIMITS.packages}, ${megabytes(LIMITS.bytes)})`,
  )
  if (packages > LIMITS.packages) throw new Error('the install has too many packages')
  if (bytes > LIMITS.bytes) throw new Error('the install is too large')
}

function measureInstall(): { readonly packages: number; readonly bytes: number } {
  const archive = resolve(pack().path)
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
    return {
      packages: Object.keys(installed.packages).length,
      bytes: sizes.reduce((total, one) => total + one, 0),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(2)} MB`
}
