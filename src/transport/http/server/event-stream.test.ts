import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { toLimits } from '../../../base/limits.ts'
import { DIALECTS } from '../../../protocol/switches.ts'
import { KeptPool } from '../../io/kept-pool.ts'
import { EventStream, readEventId, type EventRecorder } from './event-stream.ts'
import type { Sink } from './parts.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

class Reader implements Sink {
  text = ''
  how = 'open'
  waiting = 0
  gone: () => void = () => undefined

  write(text: string): void {
    this.text += text
  }

  end(text = ''): void {
    this.text += text
    this.how = 'ended'
  }

  abort(): void {
    this.how = 'cut'
  }

  onGone(listener: () => void): void {
    this.gone = listener
  }

  get seen(): readonly string[] {
    return [...this.text.matchAll(/^data: (.+)$/gm)].map(([, data]) => data as string)
  }
}

/** Reads nothing unless a test says so. */
class SlowReader extends Reader {
  override write(text: string): void {
    super.write(text)
    this.waiting += Buffer.byteLength(text)
  }
}

const limits = toLimits({ streamEvents: 3, streamBytes: 1000 })
const numbers = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}`)

describe('a named stream', () => {
  test('sends a client that resumes the following events, from every position', () => {
    const stream = new EventStream({ limits: toLimits(), name: 'r1' })
    stream.attach(new Reader())
    for (const text of numbers(0, 9)) stream.send(text)
    for (let last = -1; last < 10; last++) {
      const reader = new Reader()
      stream.attach(reader, last)
      expect(reader.seen).toEqual(numbers(last + 1, 9))
    }
  })

  test('does not keep its request once it has ended', async () => {
    const open = (): { readonly stream: EventStream; readonly request: WeakRef<object> } => {
      const request = { lost: 0 }
      const stream = new EventStream({ limits, name: 'r1', onLost: () => void request.lost++ })
      stream.attach(new Reader())
      return { stream, request: new WeakRef(request) }
    }
    const { stream, request } = open()
    // A reference that was looked at lives until the end of the turn.
    const isKept = async (): Promise<boolean> => {
      await new Promise(setImmediate)
      collect()
      return request.deref() !== undefined
    }
    expect(await isKept()).toBe(true)
    stream.end('answer')
    expect(await isKept()).toBe(false)
    expect(stream.ended).toBe(true)
  })

  test('a client that resumes replaces the previous connection', () => {
    const stream = new EventStream({ limits, name: 'r1' })
    const [first, second] = [new Reader(), new Reader()]
    stream.attach(first)
    stream.send('a')
    stream.attach(second, 0)
    stream.send('b')
    first.gone()
    stream.send('c')
    expect([first.how, first.seen, second.seen]).toEqual(['ended', ['a'], ['b', 'c']])
  })

  test('buffers everything until it is first read, then up to the limit', () => {
    const stream = new EventStream({ limits, name: 'r1' })
    for (const text of numbers(1, 20)) stream.send(text)
    const reader = new Reader()
    stream.attach(reader)
    expect(reader.seen).toEqual(numbers(1, 20))
    reader.gone()
    for (const text of numbers(21, 40)) stream.send(text)
    const back = new Reader()
    stream.attach(back, 19)
    expect(back.seen).toEqual(numbers(38, 40))
  })

  test('counts two bytes for each character of a text beyond Latin-1', () => {
    const stream = new EventStream({ limits, name: 'r1', lossy: true })
    for (const text of ['€'.repeat(300), '$'.repeat(300)]) stream.send(text)
    const sizes = [stream.keptSize]
    for (let times = 0; times < 2; times++) stream.send(`${times}${'€'.repeat(300)}`)
    sizes.push(stream.keptSize)
    const reader = new Reader()
    stream.attach(reader)
    expect([reader.seen.length, sizes.map((size) => Math.floor(size / 300))]).toEqual([1, [3, 2]])
  })

  test('is bounded in bytes too, but always keeps the last event', () => {
    const stream = new EventStream({ limits, name: 'r1', lossy: true })
    stream.send('x'.repeat(900))
    stream.send('y'.repeat(5000))
    const reader = new Reader()
    stream.attach(reader)
    expect(reader.seen).toEqual(['y'.repeat(5000)])
  })

  test('a slow reader is aborted, and the stream waits for it', () => {
    const stream = new EventStream({ limits, name: 'r1' })
    const reader = new Reader()
    stream.attach(reader)
    reader.waiting = 1001
    stream.send('a')
    stream.send('b')
    expect([reader.how, reader.seen, stream.attached]).toEqual(['cut', ['a'], false])
    const back = new Reader()
    stream.attach(back, 0)
    expect(back.seen).toEqual(['b'])
  })
})

describe('an unnamed stream', () => {
  test('sends a reader that has read what came before a message of any length', () => {
    const stream = new EventStream({ limits })
    const reader = new SlowReader()
    stream.attach(reader)
    stream.send('x'.repeat(5000))
    expect([reader.how, reader.seen]).toEqual(['open', ['x'.repeat(5000)]])
    stream.send('y')
    expect(reader.how).toBe('cut')
  })

  test('has no ids, and ends when its reader disconnects', () => {
    let gone = 0
    const stream = new EventStream({ limits, onGone: () => gone++ })
    const reader = new Reader()
    stream.prime(DIALECTS['2026-07-28'])
    stream.attach(reader)
    stream.send('a')
    reader.gone()
    stream.send('b')
    expect([reader.text, gone, stream.ended]).toEqual(['data: a\n\n', 1, true])
  })

  test('a reader that was aborted for being slow is sent nothing more', () => {
    let gone = 0
    const stream = new EventStream({ limits, onGone: () => gone++ })
    const reader = new Reader()
    stream.attach(reader)
    reader.waiting = 1001
    stream.send('a')
    stream.send('b')
    expect([reader.how, reader.seen, gone]).toEqual(['cut', ['a'], 1])
  })
})

describe('comments', () => {
  test('a reader that reads something stays, one that reads nothing between two comments is aborted', () => {
    const stream = new EventStream({ limits, name: 's' })
    const reader = new SlowReader()
    stream.attach(reader)
    // What waits counts in bytes, three for each of these characters.
    stream.send('€'.repeat(100))
    for (const bytes of [100, 4, 1]) {
      reader.waiting -= bytes
      stream.keepAlive()
      expect(reader.how).toBe('open')
    }
    stream.send('€'.repeat(100))
    reader.waiting -= 10
    stream.keepAlive()
    expect(reader.how).toBe('open')
    stream.keepAlive()
    expect(reader.how).toBe('cut')
  })

  test('a reader that has read everything is never aborted', () => {
    const stream = new EventStream({ limits, name: 's' })
    const reader = new Reader()
    stream.attach(reader)
    for (let each = 0; each < 10; each++) stream.keepAlive()
    expect([reader.how, reader.text]).toEqual(['open', ': keep-alive\n\n'.repeat(10)])
  })
})

test.each([
  '',
  'r1',
  'r1_',
  '_1',
  'r1_x',
  'R1_1',
  'r1_1_1',
  'r1_-1',
  `r1_${'9'.repeat(16)}`,
  `${'r'.repeat(17)}_1`,
])('"%s" is not one of our event ids', (id) => expect(readEventId(id)).toBeUndefined())

test('a stream that may forget keeps a message again after its client was back', () => {
  const stream = new EventStream({ limits, name: 's', lossy: true })
  for (const seen of [['changed'], ['changed'], ['changed']]) {
    stream.send('changed')
    stream.send('changed')
    const reader = new Reader()
    stream.attach(reader)
    expect(reader.seen).toEqual(seen)
    reader.gone()
  }
})

test('a stream that is given up keeps nothing in the store either, and goes on there', () => {
  const steps: unknown[] = []
  const recorder: EventRecorder = {
    opened: Promise.resolve(),
    bytes: 100,
    record: (seq, _, isLast) => void steps.push(isLast ? ['last', seq] : seq),
    trim: (before) => void steps.push(['trim', before]),
    forget: () => void steps.push('forget'),
  }
  const pool = new KeptPool({ unsentBytes: 4 * 1500 })
  const stream = new EventStream({ limits: toLimits({}), name: 'r1x1', pool, caller: 'a', recorder })
  const reader = new Reader()
  stream.attach(reader)
  reader.gone()
  stream.send('a'.repeat(1000))
  expect(pool.bytes).toBeGreaterThan(1100)
  stream.send('b'.repeat(1000))
  expect([pool.bytes, stream.reaches(0), stream.reaches(1)]).toEqual([0, false, true])
  stream.end('done')
  expect(steps).toEqual([0, 1, ['trim', 2], ['last', 2]])
})
