import { createLineReader } from '../../../src/wire/lines.ts'
import { decodeUtf8 } from '../../../src/wire/utf8.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { cut, mutateBytes } from '../mutate.ts'
import type { Random } from '../random.ts'
import { messageBytes } from '../seeds.ts'
import { anyText } from '../values.ts'

interface Input {
  readonly pieces: readonly Uint8Array[]
  readonly maxBytes: number
}

const ENDS = ['\n', '\n', '\r\n', '\r', '\n\n', ' \n', '\u2028', '']
const encoder = new TextEncoder()

/** However bytes are cut, the lines are those of a reader that sees them whole, and none is longer than the limit. */
export const linesTarget: Target = target<Input>({
  name: 'lines',
  share: 8,
  make(random) {
    const parts = random.list(6, () => Buffer.concat([lineOf(random), encoder.encode(random.pick(ENDS))]))
    const whole = Buffer.concat(random.oneIn(8) ? [Buffer.from([0xef, 0xbb, 0xbf]), ...parts] : parts)
    const bytes = random.oneIn(4) ? mutateBytes(whole, random) : whole
    return { pieces: cut(bytes, random), maxBytes: random.pick([1, 5, 16, 40, 300, 100_000]) }
  },
  check({ pieces, maxBytes }) {
    const log: string[] = []
    const reader = createLineReader({
      maxBytes,
      decode: decodeUtf8,
      onLine: (text) => log.push(`line ${text}`),
      onOversize: () => log.push('oversize'),
      onBadEncoding: () => log.push('encoding'),
    })
    for (const piece of pieces) {
      reader.push(piece)
      claim(reader.buffered <= maxBytes + 1, 'more is held than a line may have')
    }
    reader.end()
    const expected = linesOf(Buffer.concat(pieces), maxBytes)
    claim(
      log.join('\0\0') === expected.join('\0\0'),
      `lines differ: ${JSON.stringify([log, expected]).slice(0, 500)}`,
    )
  },
  *shrink({ pieces, maxBytes }) {
    for (const [at] of pieces.entries()) yield { pieces: pieces.toSpliced(at, 1), maxBytes }
  },
})

function lineOf(random: Random): Uint8Array {
  return random.oneIn(3)
    ? encoder.encode(anyText(random, 40))
    : messageBytes(random).subarray(0, random.pick([4, 40, 1000]))
}

function linesOf(bytes: Uint8Array, maxBytes: number): string[] {
  const log: string[] = []
  const pieces = Buffer.from(bytes).toString('latin1').split('\n')
  for (const [at, piece] of pieces.entries()) {
    const ended = piece.endsWith('\r') ? piece.slice(0, -1) : piece
    if (ended.length > maxBytes) log.push('oversize')
    else {
      const line = at === 0 && ended.startsWith('\xef\xbb\xbf') ? ended.slice(3) : ended
      if (/^[\t-\r ]*$/.test(line)) continue
      const text = decodeUtf8(Buffer.from(line, 'latin1'))
      log.push(text === undefined ? 'encoding' : `line ${text}`)
    }
  }
  return log
}
