import { constants, createReadStream, openSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { wrongUsage } from './failure.ts'
import type { Io } from './io.ts'

/** The largest file or input that is read. */
const MOST_BYTES = 50_000_000

/** The text of a file, or of a pipe with a name. */
export async function fileText(name: string, { cwd, signal }: Io): Promise<string> {
  try {
    return await textOf(openFile(resolve(cwd, name)), signal)
  } catch (error) {
    if (signal.aborted) throw error
    throw wrongUsage(
      `${name} cannot be read: ${(error as Error).message}`,
      'Write \\@ for text that begins with @.',
    )
  }
}

/** Opens what can be read to its end. A pipe is opened so that Ctrl-C works while nobody writes to it. */
function openFile(path: string): Readable {
  const stat = statSync(path)
  if (stat.isFile()) return createReadStream(path)
  if (!stat.isFIFO()) throw new Error('it is not a file')
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true })
}

/** The text of stdin, to its end. */
export async function stdinText({ stdin, signal }: Io): Promise<string> {
  if (stdin.isTTY === true)
    throw wrongUsage(
      '- reads stdin, which is the terminal',
      'Pipe the JSON in: echo \'{"a":1}\' | pierhead call …',
    )
  try {
    return await textOf(stdin as Readable, signal)
  } catch (error) {
    if (signal.aborted) throw error
    throw wrongUsage(`stdin cannot be read: ${(error as Error).message}`)
  }
}

/** Everything in a stream. Ctrl-C ends the wait for a writer that writes nothing. */
async function textOf(stream: Readable, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of addAbortSignal(signal, stream)) {
    const bytes = Buffer.from(chunk as Uint8Array)
    if ((size += bytes.length) > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
