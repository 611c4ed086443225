import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from '../../tools/run.ts'
import type { Sample, Workload } from '../measure.ts'
import { FASTMCP, OURS, type Subject, TMCP, V1, V2 } from '../subjects.ts'

/** The packages that a user of each peer installs to serve stdio and HTTP with schemas. */
const PEER_PACKAGES: ReadonlyMap<Subject, readonly string[]> = new Map([
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
  [FASTMCP, ['fastmcp', 'zod']],
])

/** The packages and bytes of an install: ours as packed, those of the peers as they are in node_modules. */
export const install: Workload = {
  name: 'install',
  run: async (_plan, log) => {
    const found = [
      [OURS, ours()],
      ...[...PEER_PACKAGES].map(([subject, names]) => [subject, closure(names)] as const),
    ] as const
    return found.flatMap(([subject, { packages, bytes }]) => {
      log(`${subject.name} ${packages} packages, ${(bytes / 1_000_000).toFixed(1)} MB`)
      return [
        { work: 'install', subject, value: packages, unit: 'packages', better: 'less', busy: false },
        { work: 'install', subject, value: bytes / 1_000_000, unit: 'MB', better: 'less', busy: false },
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

/** All packages that npm would install for some names, and their size on disk. */
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

/** The folder of a package as resolved from another folder: in the nearest node_modules upwards. */
function locate(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(join(folder, 'package.json'))) return folder
    if (at === '.') return undefined
  }
}

/** The bytes of a package's own files, without the packages nested in it. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .reduce((total, entry) => {
      const path = join(folder, entry.name)
      return total + (entry.isDirectory() ? sizeOf(path) : lstatSync(path).size)
    }, 0)
}
