import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from '../../tools/run.ts'
import type { Sample, Work } from '../measure.ts'
import { OURS, type Subject, TMCP, V1, V2 } from '../subjects.ts'

/** What a user of each peer names to serve stdio and HTTP with schemas. */
const NAMED: ReadonlyMap<Subject, readonly string[]> = new Map([
  [V1, ['@modelcontextprotocol/sdk', 'zod']],
  [V2, ['@modelcontextprotocol/server', '@modelcontextprotocol/node']],
  [
    TMCP,
    [
      'tmcp',
      '@tmcp/transport-stdio',
      '@tmcp/transport-http',
      '@tmcp/adapter-zod',
      'zod',
      '@hono/node-server',
    ],
  ],
])

/** How many packages and bytes an install brings: ours as packed, the peers' as they lie in node_modules. */
export const install: Work = {
  name: 'install',
  run: async (_plan, say) => {
    const found = [
      [OURS, ours()],
      ...[...NAMED].map(([subject, names]) => [subject, closure(names)] as const),
    ] as const
    return found.flatMap(([subject, { packages, bytes }]) => {
      say(`${subject.name} ${packages} packages, ${(bytes / 1_000_000).toFixed(1)} MB`)
      return [
        { work: 'install', subject, value: packages, unit: 'packages', better: 'less' },
        { work: 'install', subject, value: bytes / 1_000_000, unit: 'MB', better: 'less' },
      ] satisfies readonly Sample[]
    })
  },
}

interface Installed {
  readonly packages: number
  readonly bytes: number
}

function ours(): Installed {
  const [packed] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])) as readonly {
    readonly unpackedSize: number
  }[]
  const { dependencies = {} } = manifest('.')
  const needed = closure(Object.keys(dependencies))
  return { packages: needed.packages + 1, bytes: needed.bytes + (packed?.unpackedSize ?? Number.NaN) }
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** All packages that npm would bring for some names, with what each takes on disk. */
function closure(names: readonly string[]): Installed {
  const folders = new Set<string>()
  const add = (name: string, from: string): void => {
    const folder = locate(name, from)
    if (folder === undefined || folders.has(folder)) return
    folders.add(folder)
    for (const next of needs(manifest(folder))) add(next, folder)
  }
  for (const name of names) add(name, '.')
  const bytes = [...folders].reduce((total, folder) => total + sizeOf(folder), 0)
  return { packages: folders.size, bytes }
}

function needs({
  dependencies = {},
  peerDependencies = {},
  peerDependenciesMeta = {},
}: Manifest): readonly string[] {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return [...Object.keys(dependencies), ...peers]
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** Where a package lies when it is asked for from a folder: the nearest node_modules upwards. */
function locate(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(join(folder, 'package.json'))) return folder
    if (at === '.') return undefined
  }
}

/** Bytes of a package's own files, without the packages that lie inside it. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .reduce((total, entry) => {
      const path = join(folder, entry.name)
      return total + (entry.isDirectory() ? sizeOf(path) : lstatSync(path).size)
    }, 0)
}
