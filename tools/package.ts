import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { main, run } from './run.ts'

const PACKED = '.cache/pack'

/** Packs the package as published, without running scripts, and returns the path of the archive. */
export function pack(): string {
  rmSync(PACKED, { recursive: true, force: true })
  mkdirSync(PACKED, { recursive: true })
  const output = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', PACKED])
  const [packed] = JSON.parse(output) as readonly { readonly filename: string }[]
  if (!packed) throw new Error('npm pack made no archive')
  return join(PACKED, packed.filename)
}

function checkPackage(): void {
  const archive = pack()
  const bin = (name: string): string => join('node_modules', '.bin', name)
  run(bin('publint'), ['run', archive, '--strict'])
  // Without @types nothing is fetched from the network.
  run(bin('attw'), [archive, '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji'])
  console.log(`package: publint and attw accept ${archive}`)
}

if (import.meta.filename === process.argv[1]) await main(checkPackage)
