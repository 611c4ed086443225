import { scan } from '../src/wire/scan.ts'
import { type Revision, callText, numbered } from './messages.ts'
import { runCommands } from './commands.ts'
import { type Extent, startRound } from './extent.ts'

/** The commands of the process that times the scan. */
export interface ScanCommands {
  readonly time: { readonly revision: Revision; readonly extent: Extent }
}

/** Nanoseconds per message: `JSON.parse` alone, and with the scan before it. */
export interface ScanTimes {
  readonly parseNs: number
  readonly readNs: number
}

const TEXTS = 4096
const DEPTH = 64

runCommands<ScanCommands>({
  time: async ({ revision, extent }): Promise<ScanTimes> => {
    const texts = Array.from({ length: TEXTS }, (_, index) => callText(numbered(index), revision))
    return { parseNs: time(texts, extent, parse), readNs: time(texts, extent, read) }
  },
})

function parse(text: string): boolean {
  return typeof JSON.parse(text) === 'object'
}

function read(text: string): boolean {
  return scan(text, DEPTH) === undefined && parse(text)
}

function time(texts: readonly string[], extent: Extent, work: (text: string) => boolean): number {
  const start = performance.now()
  const isOver = startRound(extent)
  let count = 0
  do {
    for (const text of texts) if (!work(text)) throw new Error(`the scan rejects ${text}`)
    count += texts.length
  } while (!isOver(count))
  return ((performance.now() - start) * 1e6) / count
}

process.on('disconnect', () => process.exit(0))
