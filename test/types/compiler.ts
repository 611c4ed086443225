import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const TSC = resolve('node_modules/typescript/bin/tsc')

/** Runs the compiler in a folder and gives back all that it said. */
export function compile(folder: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [TSC, ...args], { cwd: folder, encoding: 'utf8' })
  return stdout + stderr
}

/** Puts the declarations of the package into a folder, as an installed copy has them, and what it depends on. */
export function install(folder: string): void {
  const home = join(folder, 'node_modules', 'pierhead')
  mkdirSync(home, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const { exports, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly exports: object
    readonly dependencies: object
  }
  for (const name of Object.keys(dependencies))
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  const doors = Object.entries<{ readonly types?: string }>(exports as never).flatMap(([path, { types }]) =>
    types === undefined ? [] : [[path, { types }] as const],
  )
  const described = { name: 'pierhead', type: 'module', exports: Object.fromEntries(doors) }
  writeFileSync(join(home, 'package.json'), JSON.stringify(described))
  const outDir = join(home, 'dist')
  compile(process.cwd(), ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', resolve(outDir)])
  for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue
    const path = join(outDir, name)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replaceAll(/((?:from |import\()['"]\.[^'"\n]*)\.ts(?=['"])/g, '$1.js'))
  }
}
