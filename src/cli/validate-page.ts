import { constants } from 'node:fs'
import { access, lstat, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import type { Invocation } from './command.ts'
import { Failure } from './failure.ts'
import type { Report } from '../validate/result.ts'

/** Replaces a file. What was no link when we looked must not be one now; Windows has no such flag, which counts as 0. */
const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
const FLAG = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW

/** Throws if a page cannot be written, before a long run. */
export async function checkPage(file: string | undefined, cwd: string): Promise<void> {
  if (file === undefined) return
  try {
    const path = await placeOf(resolve(cwd, file))
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory() === true) throw new Error('it is a folder')
    await access(found === undefined ? dirname(path) : path, constants.W_OK)
  } catch (cause) {
    throw notWritten(file, cause)
  }
}

/** Writes the page that was asked for. Returns why it could not be written. */
export async function writePage(
  report: Report,
  file: string | undefined,
  { io, output }: Invocation,
): Promise<Failure | undefined> {
  if (file === undefined) return undefined
  const { htmlReport } = await import('../validate/report-html.ts')
  try {
    await writeFile(await placeOf(resolve(io.cwd, file)), htmlReport(report), { flag: FLAG })
  } catch (cause) {
    return notWritten(file, cause)
  }
  output.note(`Wrote ${file}.`)
  return undefined
}

/** Where a file is written: a link may lead to another place in its folder only. */
async function placeOf(path: string): Promise<string> {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isSymbolicLink() !== true) return path
  const folder = await realpath(dirname(path))
  const target = await realpath(path)
  if (target.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return target
  throw new Error('it is a link that leads out of its folder')
}

function notWritten(file: string, cause: unknown): Failure {
  return new Failure(`the report could not be written to ${file}: ${(cause as Error).message}`, { cause })
}
