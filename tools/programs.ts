import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { main } from './run.ts'

/** System programs that tests start, and the Debian package of each. */
const PACKAGES = {
  chromium: 'chromium',
  'dbus-run-session': 'dbus',
  'gnome-keyring-daemon': 'gnome-keyring',
  nginx: 'nginx-light',
  postgres: 'postgresql',
  'redis-server': 'redis-server',
  tmux: 'tmux',
} as const

export type Program = keyof typeof PACKAGES

const VERSIONS = '/usr/lib/postgresql'
const APT = 'apt-get'
const INSTALL_MS = 300_000

/** The path of a program. As root on Debian it is installed if missing; otherwise an error says what to install. */
export function ensureProgram(program: Program): string {
  const path = find(program) ?? (mayInstall() ? install(program) : undefined)
  if (path !== undefined) return path
  throw new Error(
    `the program "${program}" is missing: install the Debian package ${PACKAGES[program]} (apt-get install ${PACKAGES[program]})`,
  )
}

function find(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return [...folders, ...versionFolders()].map((folder) => join(folder, program)).find(isExecutable)
}

/** Debian keeps the versions of PostgreSQL apart, and none is in the path. The newest comes first. */
function versionFolders(): readonly string[] {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : []
  return versions.toSorted((one, two) => Number(two) - Number(one)).map((one) => join(VERSIONS, one, 'bin'))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function mayInstall(): boolean {
  return process.getuid?.() === 0 && find(APT) !== undefined
}

function install(program: Program): string | undefined {
  apt('update')
  apt('install', '--yes', '--no-install-recommends', PACKAGES[program])
  return find(program)
}

/** Runs apt-get non-interactively, waiting for its lock. */
function apt(...args: readonly string[]): void {
  const { status, stderr } = spawnSync(APT, ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INSTALL_MS,
  })
  if (status !== 0) process.stderr.write(`${APT} ${args.join(' ')} failed: ${stderr.trim()}\n`)
}

if (import.meta.filename === process.argv[1]) {
  await main(() => {
    for (const program of Object.keys(PACKAGES) as Program[]) console.log(ensureProgram(program))
  })
}
