import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { COMMAND } from './line.ts'

/** Packages that a program may use. */
const PACKAGES = ['zod', 'esbuild', 'typescript', '@types']

/** A folder with the given files and the packages of this repository, until the test is over. */
export function programFolder(files: Readonly<Record<string, string>>): string {
  const home = mkdtempSync(join(tmpdir(), 'pierhead-program-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  linkPackages(home)
  return home
}

/** Gives a folder the packages of this repository. */
export function linkPackages(home: string): void {
  mkdirSync(join(home, 'node_modules'), { recursive: true })
  symlinkSync(resolve('.'), join(home, 'node_modules/pierhead'))
  for (const name of PACKAGES) symlinkSync(resolve('node_modules', name), join(home, 'node_modules', name))
}

export interface StartOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly program?: readonly string[]
}

/** Starts the command, or with `program` Node, and resolves with the URL that it prints. It ends with the test. */
export async function startedUrl(args: readonly string[], options: StartOptions): Promise<string> {
  const { cwd, env, program = COMMAND } = options
  const child = spawn(process.execPath, [...program, ...args], { cwd, env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  return new Promise((found, failed) => {
    const read = (chunk: string): void => {
      text += chunk
      const [address] = /https?:\/\/\S+(?=\s)/.exec(text) ?? []
      if (address !== undefined) found(address)
    }
    child.stdout.setEncoding('utf8').on('data', read)
    child.stderr.setEncoding('utf8').on('data', read)
    child.on('close', (code) => failed(new Error(`ended with ${String(code)} and no URL: ${text}`)))
  })
}
