import { basename, relative, resolve, sep } from 'node:path'
import { watch } from 'chokidar'

/** Files whose change may change the program. Others, such as databases, may be written by the program itself. */
const SOURCES = /\.[cm]?[jt]sx?$|^(?:package|tsconfig[\w.-]*)\.json$|^\.env(?:\.|$)/
/** Folders that hold no sources. */
const SKIPPED = new Set(['node_modules', 'dist', 'coverage'])
/** Editors save in several steps, and several files at once. */
const QUIET_MS = 100

export interface WatchOptions {
  /** The folder of the project. */
  readonly root: string
  /** More files and folders. Every change in them counts. */
  readonly more: readonly string[]
  /** Is called with the names of changed files, relative to the folder. */
  onChange(files: readonly string[]): void
  onError(error: unknown): void
}

/** Watches the sources of a project. Resolves when it does, with a function that ends it. */
export async function watchSources({
  root,
  more,
  onChange,
  onError,
}: WatchOptions): Promise<() => Promise<void>> {
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const extra = more.map((path) => resolve(root, path))
  const isExtra = (path: string): boolean => extra.some((one) => path === one || path.startsWith(one + sep))
  const watcher = watch([root, ...extra], {
    ignoreInitial: true,
    ignored: (path, stats) => {
      if (isExtra(resolve(path))) return false
      if (isSkipped(relative(root, path))) return true
      return stats?.isFile() === true && !SOURCES.test(basename(path))
    },
  })
  watcher.on('error', onError)
  watcher.on('all', (event, path) => {
    if (event === 'addDir' || event === 'unlinkDir') return
    changed.add(relative(root, path))
    clearTimeout(timer)
    timer = setTimeout(() => {
      const files = [...changed]
      changed.clear()
      onChange(files)
    }, QUIET_MS)
  })
  await new Promise<void>((ready) => void watcher.once('ready', ready))
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}

/** Whether a path is in a hidden folder, or one of packages or builds. The names of `.env` files also begin with a dot. */
function isSkipped(path: string): boolean {
  return path
    .split(sep)
    .some((part) => SKIPPED.has(part) || (part.startsWith('.') && part !== '..' && !part.startsWith('.env')))
}
