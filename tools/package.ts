import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { main, run } from './run.ts'

const PACKED = '.cache/pack'

/** An archive as it would be published. */
export interface Packed {
  readonly path: string
  /** The paths of the files in it. */
  readonly files: readonly string[]
}

/** Packs the package into a folder, which is emptied before, without running scripts. */
export function pack(folder: string = PACKED): Packed {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const output = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder])
  const [packed] = JSON.parse(output) as readonly {
    readonly filename: string
    readonly files: readonly { readonly path: string }[]
  }[]
  if (!packed) throw new Error('npm pack made no archive')
  return { path: join(folder, packed.filename), files: packed.files.map(({ path }) => path) }
}

/** The paths of the files that would be published; writes nothing. */
export function packedFiles(): readonly string[] {
  const output = run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])
  const [packed] = JSON.parse(output) as readonly { readonly files: readonly { readonly path: string }[] }[]
  return packed?.files.map(({ path }) => path) ?? []
}

function checkPackage(): void {
  const { path: archive } = pack()
  const bin = (name: string): string => join('node_modules', '.bin', name)
  run(bin('publint'), ['run', archive, '--strict'])
  // Without @types nothing is fetched from the network.
  run(bin('attw'), [archive, '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji'])
  console.log(`package: publint and attw accept ${archive}`)
}

if (import.meta.filename === process.argv[1]) await main(checkPackage)
