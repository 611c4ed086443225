import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import { keepPublicDeclarations, publicDeclarations } from './declarations.ts'
import { importsOf, packageOf } from './imports.ts'
import { bundleCommand } from './bundle-command.ts'
import { joinModules } from './join.ts'
import { main } from './run.ts'

/** The files that package.json names. */
const ENTRIES = {
  server: 'index.js',
  client: 'client.js',
  others: [
    'auth.js',
    'testing.js',
    'extensions.js',
    'gist.js',
    'auth.js',
    'auth-dev.js',
    'auth-client.js',
    'profiles.js',
    'stores.js',
    'transport/stdio/client.js',
    'transport/stdio/absent.js',
    'transport/ws/socket.js',
    'transport/ws/socket-web.js',
    'transport/tcp/client.js',
    'transport/tcp/absent.js',
    'auth/client/desktop.js',
    'auth/client/desktop-absent.js',
    'auth/client/pinned.js',
    'auth/client/pinned-web.js',
    'auth/client/vaults-node.js',
    'auth/client/vaults-absent.js',
    'keys/node.js',
    'keys/absent.js',
    'app/listen/listen.js',
    'app/listen/absent.js',
    'transport/http/server/node.js',
    'transport/http/server/absent.js',
    'transport/http/server/lifetime.js',
    'transport/http/server/lifetime-worker.js',
  ],
}
const FRESH = `.cache/build-${process.pid}`

/** Compiles src into dist, and replaces dist only when all of it succeeded. */
export async function build(): Promise<void> {
  mkdirSync(FRESH, { recursive: true })
  try {
    await fill()
    rmSync('dist', { recursive: true, force: true })
    renameSync(FRESH, 'dist')
  } finally {
    rmSync(FRESH, { recursive: true, force: true })
  }
}

/** Whether dist is missing or older than its sources. */
export function isStale(): boolean {
  if (!existsSync('dist/index.js')) return true
  const inputs = [
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'tools/build.ts',
    'tools/join.ts',
    'src',
    ...walk('src'),
  ]
  const newest = Math.max(...inputs.filter((path) => !path.endsWith('.test.ts')).map(changed))
  return newest > Math.min(...walk('dist').map(changed))
}

async function fill(): Promise<void> {
  const compiler = join('node_modules', 'typescript', 'bin', 'tsc')
  const args = [compiler, '-p', 'tsconfig.build.json', '--outDir', FRESH]
  // Output goes to stderr: a server started over stdio owns stdout.
  if (spawnSync(process.execPath, args, { stdio: ['ignore', 2, 2] }).status !== 0)
    throw new Error('tsc failed')
  await bundleCommand(join(FRESH, 'cli'))
  // Only the command uses the validator, and has it in its bundle.
  rmSync(join(FRESH, 'validate'), { recursive: true })
  await joinModules({
    folder: FRESH,
    paths: walk(FRESH)
      .filter((path) => path.endsWith('.js'))
      .map((path) => relative(FRESH, path).replaceAll('\\', '/'))
      .filter((path) => !path.startsWith('cli/')),
    ...ENTRIES,
    aliases: aliases(),
  })
  keepPublicDeclarations(FRESH, publicDeclarations(described().exports))
  rejectUndeclaredImports()
}

/** The modules that package.json maps to imports starting with #. */
function aliases(): ReadonlyMap<string, readonly string[]> {
  const { imports } = described()
  const inside = (value: object): readonly string[] =>
    Object.values(value).flatMap((one) => (typeof one === 'string' ? [one] : inside(one as object)))
  const emitted = (value: object): readonly string[] =>
    inside(value).flatMap((path) => (path.startsWith('./dist/') ? [path.slice('./dist/'.length)] : []))
  return new Map(Object.entries(imports).map(([name, value]) => [name, emitted(value as object)]))
}

/** Fails a build whose files import a package that an installed copy would not have. */
function rejectUndeclaredImports(): void {
  const { name, dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const known = new Set([name, ...Object.keys({ ...dependencies, ...peerDependencies })])
  for (const path of walk(FRESH).filter((file) => /\.(js|d\.ts)$/.test(file))) {
    for (const specifier of importsOf(path, readFileSync(path, 'utf8'))) {
      if (/^[.#]/.test(specifier) || isBuiltin(specifier) || known.has(packageOf(specifier))) continue
      throw new Error(
        `${path.replace(FRESH, 'dist')} imports ${specifier}, which is not one of our dependencies`,
      )
    }
  }
}

function described(): { readonly exports: object; readonly imports: object } {
  return JSON.parse(readFileSync('package.json', 'utf8'))
}

function walk(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
}

function changed(path: string): number {
  return statSync(path).mtimeMs
}

if (import.meta.filename === process.argv[1]) await main(build)
