import { scan } from '../src/wire/scan.ts'
import { type Revision, callText, numbered } from './messages.ts'
import { runCommands } from './commands.ts'

/** The commands of the process that times the scan. */
export interface ScanCommands {
  readonly time: { readonly revision: Revision; readonly seconds: number }
}

/** Nanoseconds per message. */
export interface ScanTimes {
  readonly scanNs: number
  readonly parseNs: number
}

const TEXTS = 4096
const DEPTH = 64

runCommands<ScanCommands>({
  time: async ({ revision, seconds }): Promise<ScanTimes> => {
    const texts = Array.from({ length: TEXTS }, (_, index) => callText(numbered(index), revision))
    const scanNs = time(texts, seconds, (text) => scan(text, DEPTH) === undefined)
    const parseNs = time(texts, seconds, (text) => typeof JSON.parse(text) === 'object')
    return { scanNs, parseNs }
  },
})

function time(texts: readonly string[], seconds: number, work: (text: string) => boolean): number {
  const start = performance.now()
  let count = 0
  do {
    for (const text of texts) if (!work(text)) throw new Error(`the scan rejects ${text}`)
    count += texts.length
  } while (performance.now() - start < seconds * 1000)
  return ((performance.now() - start) * 1e6) / count
}

process.on('disconnect', () => process.exit(0))
