import { constants } from 'node:fs'
import { access, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Invocation } from './command.ts'
import { Failure } from './failure.ts'
import type { Report } from '../validate/result.ts'

/** Throws if a page cannot be written, before a long run. */
export async function checkPage(file: string | undefined, cwd: string): Promise<void> {
  if (file === undefined) return
  const path = resolve(cwd, file)
  try {
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
    await writeFile(resolve(io.cwd, file), htmlReport(report))
  } catch (cause) {
    return notWritten(file, cause)
  }
  output.note(`Wrote ${file}.`)
  return undefined
}

function notWritten(file: string, cause: unknown): Failure {
  return new Failure(`the report could not be written to ${file}: ${(cause as Error).message}`, { cause })
}
