import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createEventReader } from './sse-reader.ts'
import { comment, toEvent, type StreamEvent } from './sse.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

function readEvents(chunks: readonly (string | Uint8Array)[], maxBytes = 100_000): unknown[] {
  const log: unknown[] = []
  const reader = createEventReader({
    maxBytes,
    onEvent: (event) => log.push(event),
    onRetry: (retry) => log.push({ retry }),
    onOversize: () => log.push('<oversize>'),
  })
  for (const chunk of chunks) reader.push(typeof chunk === 'string' ? bytesOf(chunk) : chunk)
  return log
}

describe('writing', () => {
  test('an event has one field a line and ends with a blank line', () => {
    expect(toEvent({ data: '{"a":1}' })).toBe('data: {"a":1}\n\n')
    expect(toEvent({ event: 'message', id: '7', retry: 500, data: 'x' })).toBe(
      'event: message\nid: 7\nretry: 500\ndata: x\n\n',
    )
    expect(toEvent({ id: '7', data: '' })).toBe('id: 7\ndata: \n\n')
  })

  test('line breaks in data become further data lines', () => {
    expect(toEvent({ data: 'a\nb\r\nc\rd' })).toBe('data: a\ndata: b\ndata: c\ndata: d\n\n')
  })

  test('an id or event name cannot smuggle in a field', () => {
    for (const text of ['a\nb', 'a\rb', 'a\0b']) {
      expect(() => toEvent({ id: text })).toThrow('must not contain a line break')
      expect(() => toEvent({ event: text })).toThrow('must not contain a line break')
    }
  })

  test('retry is a whole number of milliseconds', () => {
    for (const retry of [-1, 1.5, Number.NaN, Infinity])
      expect(() => toEvent({ retry })).toThrow('whole number')
  })

  test('a comment is never an event, whatever it says', () => {
    expect(comment('ping')).toBe(': ping\n\n')
    expect(readEvents([comment('a\ndata: b\r\nid: c')])).toEqual([])
  })
})

describe('reading', () => {
  test('LF, CR and CRLF all end a line, also when cut between CR and LF', () => {
    expect(readEvents(['data: a\n\ndata: b\r\rdata: c\r\n\r\n'])).toEqual([
      { data: 'a' },
      { data: 'b' },
      { data: 'c' },
    ])
    expect(readEvents(['data: a\r', '\ndata: b\r\n', '\r', '\n'])).toEqual([{ data: 'a\nb' }])
    expect(readEvents(['data: a\r\n', '\n'])).toEqual([{ data: 'a' }])
  })

  test('a byte order mark at the start is dropped', () => {
    expect(readEvents(['\uFEFFdata: a\n\n\uFEFFdata: b\n\n'])).toEqual([{ data: 'a' }])
  })

  test('one space after the colon belongs to the syntax, a second to the value', () => {
    expect(readEvents(['data:a\ndata: b\ndata:  c\ndata\n\n'])).toEqual([{ data: 'a\nb\n c\n' }])
  })

  test('comments and unknown fields are ignored [R132]', () => {
    expect(readEvents([': hello\nother: x\nDATA: y\ndata: a\n:\n\n'])).toEqual([{ data: 'a' }])
  })

  test('an event without data is delivered only when it carries an id', () => {
    expect(readEvents(['event: x\n\n', 'id: 7\n\n', 'id: 8\ndata:\n\n', 'data:\n\n'])).toEqual([
      { id: '7', data: '' },
      { id: '8', data: '' },
      { data: '' },
    ])
  })

  test('an id with NUL is ignored', () => {
    expect(readEvents(['id: a\0b\ndata: x\n\n'])).toEqual([{ data: 'x' }])
  })

  test('retry counts only when it is all digits', () => {
    expect(readEvents(['retry: 250\nretry: 2s\nretry: -1\nretry:\nretry: 99999999999999999999\n\n'])).toEqual(
      [{ retry: 250 }],
    )
  })

  test('the last event id stays known', () => {
    const reader = createEventReader({ maxBytes: 100, onEvent: () => {}, onOversize: () => {} })
    expect(reader.lastEventId).toBeUndefined()
    reader.push(bytesOf('id: 7\ndata: a\n\ndata: b\n\nid: 8\n'))
    expect(reader.lastEventId).toBe('7')
    reader.push(bytesOf('\nid\n\n'))
    expect(reader.lastEventId).toBe('')
  })

  test('an event that the stream does not finish is never delivered', () => {
    expect(readEvents(['data: a\n'])).toEqual([])
  })

  test('an event beyond the limit is reported once and the next one is read', () => {
    const line = `data: ${'x'.repeat(40)}\n`
    expect(readEvents([line, line, '\n', 'data: ok\n\n'], 100)).toEqual([
      { data: `${'x'.repeat(40)}\n${'x'.repeat(40)}` },
      { data: 'ok' },
    ])
    expect(readEvents([line, line, line, line, '\n', 'data: ok\n\n'], 100)).toEqual([
      '<oversize>',
      { data: 'ok' },
    ])
    expect(readEvents(['x'.repeat(200), 'x'.repeat(200), '\n\ndata: ok\n\n'], 100)).toEqual([
      '<oversize>',
      { data: 'ok' },
    ])
    expect(readEvents([...Array.from({ length: 100 }, () => ': keep-alive\n'), 'data: ok\n\n'], 100)).toEqual(
      [{ data: 'ok' }],
    )
  })
})

const fieldText = fc.string({ unit: 'binary' }).map((text) => text.replace(/[\r\n\0]/g, ''))
const events = fc.array(
  fc.record(
    {
      data: fc.oneof(fc.string({ unit: fc.constantFrom('\n', '\r', ' ', ':', 'a', 'é', '😀') }), fieldText),
      id: fieldText,
      event: fieldText.filter((text) => text !== ''),
    },
    { requiredKeys: ['data'] },
  ),
)

test('what is written is read again, however the bytes are cut', () => {
  fc.assert(
    fc.property(events, fc.array(fc.nat(400)), (written, cuts) => {
      const bytes = bytesOf(written.map(toEvent).join(comment('')))
      const places = [
        0,
        ...cuts.filter((place) => place < bytes.length).toSorted((a, b) => a - b),
        bytes.length,
      ]
      const chunks = places.slice(1).map((place, index) => bytes.slice(places[index], place))
      expect(readEvents(chunks)).toEqual(written.map(toRead))
    }),
    { numRuns: 500 },
  )
})

/** Line breaks all become LF. */
function toRead(event: StreamEvent): StreamEvent {
  return { ...event, data: event.data!.replace(/\r\n?/g, '\n') }
}
