import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** A private copy of the repository, in which files may be changed freely. */
export interface Copy {
  readonly folder: string
  write(file: string, text: string): void
}

/** The sources of a tree that can be mutated, by path from its root. */
export function sourcesOf(root: string): ReadonlyMap<string, string> {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts') && !/\.(test|test-d|d)\.ts$/.test(path))
  return new Map(files.toSorted().map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}

/** Copies the files that Git tracks or would add, and links installed packages. The previous contents of the folder are deleted. */
export function copyTree(root: string, folder: string): Copy {
  rmSync(folder, { recursive: true, force: true })
  for (const file of filesOf(root)) {
    const target = join(folder, file)
    mkdirSync(dirname(target), { recursive: true })
    cpSync(join(root, file), target)
  }
  symlinkSync(resolve(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  linkSpecification(root, folder)
  return { folder, write: (file, text) => writeFileSync(join(folder, file), text) }
}

function filesOf(root: string): readonly string[] {
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (listed.status !== 0) throw new Error(`git ls-files failed in ${root}: ${listed.stderr}`)
  return listed.stdout
    .split('\0')
    .filter((file) => !['', 'node_modules'].includes(file) && existsSync(join(root, file)))
}

/** Some tests read the official schemas from a folder next to the repository, if it exists. */
function linkSpecification(root: string, folder: string): void {
  const beside = resolve(root, '..', 'shared')
  const link = join(dirname(folder), 'shared')
  if (existsSync(beside) && !existsSync(link)) symlinkSync(beside, link, 'junction')
}
