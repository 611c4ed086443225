import { existsSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { wrongUsage } from './failure.ts'

/** A source file, and the export that holds the server. */
export interface SourceFile {
  readonly path: string
  /** The name after the colon; undefined for the default export. */
  readonly name: string | undefined
}

/** Reads `server.ts` or `server.ts:name`. Throws if there is no such file. */
export function sourceFile(word: string, cwd: string): SourceFile {
  const [, file = word, name] = /^(.*\.[cm]?[jt]sx?):([\w$]+)$/.exec(word) ?? []
  const path = resolve(cwd, file)
  if (existsSync(path) && statSync(path).isFile()) return { path, name }
  const near = relative(cwd, path)
  const shown = near === '' || near.startsWith('..') ? path : near
  throw wrongUsage(
    existsSync(path) && statSync(path).isDirectory() ? `${shown} is a folder` : `there is no file ${shown}`,
    'Name a file such as server.ts or src/server.js.',
  )
}

export function isTypeScript(path: string): boolean {
  return /\.[cm]?tsx?$/.test(path)
}
