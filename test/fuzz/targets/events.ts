import { createEventReader } from '../../../src/wire/sse-reader.ts'
import { comment, toEvent } from '../../../src/wire/sse.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { cut, mutateBytes } from '../mutate.ts'
import type { Random } from '../random.ts'
import { messageText } from '../seeds.ts'
import { anyText } from '../values.ts'

interface Input {
  readonly pieces: readonly Uint8Array[]
  readonly maxBytes: number
  /** What was written, where nothing was spoilt on the way. */
  readonly written?: readonly string[]
}

const FIELDS = ['data', 'data', 'id', 'event', 'retry', '', 'other', 'DATA', 'data ', ' data']
const ENDS = ['\n', '\r\n', '\r', '\n\n', '\r\r', '\n\r', '']
const encoder = new TextEncoder()

/** However a stream is cut its events are the same; what is written is read again; what is held stays within the limit. */
export const eventsTarget: Target = target<Input>({
  name: 'events',
  share: 7,
  make(random) {
    if (random.oneIn(3)) return roundTrip(random)
    const text = Array.from({ length: random.few(14) }, () => line(random)).join('')
    const bytes = encoder.encode(random.oneIn(10) ? `\ufeff${text}` : text)
    return {
      pieces: cut(random.oneIn(4) ? mutateBytes(bytes, random) : bytes, random),
      maxBytes: random.pick([1, 8, 20, 60, 300, 100_000]),
    }
  },
  check({ pieces, maxBytes, written }) {
    const log = read(pieces, maxBytes)
    const whole = read([Buffer.concat(pieces)], maxBytes)
    claim(
      log.join('\0\0') === whole.join('\0\0'),
      `events differ: ${JSON.stringify([log, whole]).slice(0, 500)}`,
    )
    if (written !== undefined)
      claim(
        log.join('\0\0') === written.join('\0\0'),
        `what was written is not read: ${JSON.stringify([log, written]).slice(0, 500)}`,
      )
  },
})

function line(random: Random): string {
  const value = random.oneIn(3) ? messageText(random).slice(0, 200) : anyText(random)
  return random.pick(FIELDS) + random.pick([':', ': ', ':  ', '']) + value + random.pick(ENDS)
}

function roundTrip(random: Random): Input {
  let text = ''
  const written: string[] = []
  for (let left = random.few(5); left > 0; left--) {
    const data = random.oneIn(2) ? anyText(random) : messageText(random)
    const id = random.oneIn(2) ? clean(anyText(random)) : undefined
    const event = random.oneIn(3) ? clean(anyText(random)) : undefined
    if (random.oneIn(3)) text += comment(anyText(random))
    text += toEvent({ data, ...(id !== undefined && { id }), ...(event !== undefined && { event }) })
    written.push(show({ data: data.replace(/\r\n?/g, '\n'), id, event: event === '' ? undefined : event }))
  }
  return { pieces: cut(encoder.encode(text), random), maxBytes: 1e6, written }
}

function clean(text: string): string {
  return text.replace(/[\r\n\0]/g, '')
}

function show({
  data,
  id,
  event,
}: {
  data: string
  id?: string | undefined
  event?: string | undefined
}): string {
  const text = `${data}\u0001${id === undefined ? '-' : `=${id}`}\u0001${event ?? ''}`
  return /[\ud800-\udfff]/.test(text) ? Buffer.from(text).toString() : text
}

function read(pieces: readonly Uint8Array[], maxBytes: number): string[] {
  const log: string[] = []
  const reader = createEventReader({
    maxBytes,
    onEvent: (event) => {
      claim(event.data.length <= maxBytes, 'an event is larger than the limit')
      log.push(show(event))
    },
    onRetry: (ms) => log.push(`retry ${ms}`),
    onOversize: () => log.push('oversize'),
  })
  for (const piece of pieces) reader.push(piece)
  return log
}
