import { accessSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Invocation } from './command.ts'
import { Failure } from './failure.ts'
import { checkNewFile } from './make-folder.ts'
import type { Surroundings } from './project-files.ts'
import type { Report } from '../validate/result.ts'
import { outputFile, replaceFile } from './write-file.ts'

/** Throws if a page cannot be written, before a long run. */
export function checkPage(file: string | undefined, io: Surroundings): void {
  if (file === undefined) return
  try {
    const path = resolve(io.cwd, file)
    // A folder that is missing is more likely a mistake than one to make.
    accessSync(dirname(path))
    checkNewFile(path, 'Name another file.')
    outputFile(path, io)
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
    replaceFile(outputFile(resolve(io.cwd, file), io), htmlReport(report), 0o666)
  } catch (cause) {
    return notWritten(file, cause)
  }
  output.note(`Wrote ${file}.`)
  return undefined
}

function notWritten(file: string, cause: unknown): Failure {
  return new Failure(`the report could not be written to ${file}: ${(cause as Error).message}`, { cause })
}
