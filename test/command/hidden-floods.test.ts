import { expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { jsonPieces, safeJsonPieces } from '../../src/cli/json-pieces.ts'
import { Output } from '../../src/cli/output.ts'
import { safeJson, safeJsonStart, safeTexts } from '../../src/cli/safe-text.ts'

/** Many characters that nobody sees: each is six in JSON. */
const FLOOD = '\u007f'.repeat(1_000_000)

/** An output that keeps what is written, and counts the turns that others got before each. */
function recorded(signal?: AbortSignal): {
  readonly output: Output
  readonly written: string[]
  readonly turns: number[]
  end(): void
} {
  const [written, turns]: [string[], number[]] = [[], []]
  let turn = 0
  let timer = setImmediate(function next() {
    turn++
    timer = setImmediate(next)
  })
  const stdout: Io['stdout'] = {
    write(text, done) {
      written.push(text)
      turns.push(turn)
      done?.()
      return true
    },
  }
  const io = { stdout, stderr: stdout, env: {}, signal } as unknown as Io
  return { output: new Output(io, { json: true }), written, turns, end: () => clearImmediate(timer) }
}

it.each<readonly [string, (output: Output, value: object) => Promise<void>]>([
  ['a document', (output, value) => output.data(value, () => '')],
  ['lists', (output, value) => output.lists({ tools: [value, value] }, () => [])],
])('%s of hidden characters is written in pieces, with a turn for others before each', async (_, print) => {
  const { output, written, turns, end } = recorded()
  await print(output, { text: FLOOD })
  end()
  expect(Math.max(...written.map((text) => text.length))).toBeLessThan(500_000)
  expect(written.length).toBeGreaterThan(10)
  expect(new Set(turns.slice(0, -1)).size).toBe(turns.length - 1)
  expect(written.join('')).not.toContain('\u007f')
  expect(JSON.stringify(JSON.parse(written.join('')))).toContain(FLOOD)
})

it('an event is one line, written at once, and others have turns while it is made', async () => {
  const { output, written, turns, end } = recorded()
  await output.event({ text: FLOOD }, () => '')
  end()
  expect(written).toHaveLength(1)
  expect(turns[0]).toBeGreaterThan(0)
  expect(JSON.parse(written[0] ?? '')).toEqual({ text: FLOOD })
})

it('Ctrl-C and the end of the time of --total end a long document', async () => {
  const interrupt = new AbortController()
  const total = new AbortController()
  for (const controller of [interrupt, total]) {
    const { output, written, end } = recorded(interrupt.signal)
    if (controller === total) output.endWith(total.signal)
    setImmediate(() => controller.abort(new Error('too late')))
    await expect(output.data({ text: FLOOD }, () => '')).rejects.toThrow('too late')
    end()
    expect(written.join('').length).toBeLessThan(1_000_000)
    // The error has a line of its own.
    expect(written.at(-1)).toMatch(/\n$/)
  }
})

it('what a command has when it is interrupted is written whole', async () => {
  const { output, written, end } = recorded(AbortSignal.abort())
  await output.data({ text: FLOOD }, () => '')
  end()
  expect(JSON.parse(written.join(''))).toEqual({ text: FLOOD })
})

it('JSON in pieces is that of JSON.stringify', () => {
  const value = {
    a: undefined,
    b: [undefined, null, [], {}, [[1]], { x: undefined }],
    '\u3164': { c: 'x\n"\u{E0150}', d: new Date(0) },
    e: [true, 1e21, Number.NaN],
  }
  for (const indent of [0, 2]) {
    expect([...jsonPieces(value, indent)].join('')).toBe(JSON.stringify(value, undefined, indent))
    expect([...safeJsonPieces(value, indent)].join('')).toBe(safeJson(value, indent))
  }
})

it('characters at the end of a slice stay whole', () => {
  const text = '👍🏽❤️1️⃣'.repeat(20_000)
  for (const start of ['', 'a', 'ab', 'abc', 'abcd'])
    expect([...safeJsonPieces(start + text)].join('')).toBe(JSON.stringify(start + text))
})

it('a terminal shows the beginning of a large value, and of many texts', () => {
  expect(safeJsonStart({ a: 'x'.repeat(10) })).toBe(JSON.stringify({ a: 'x'.repeat(10) }, undefined, 2))
  const shown = safeJsonStart({ a: FLOOD.repeat(2) })
  expect(shown.length).toBeLessThan(6_100_000)
  expect(shown).toMatch(/… use --json for all of it$/)
  let made = 0
  const texts = safeTexts([1, 2, 3, 4, 5], () => {
    made++
    return 'x'.repeat(600_000)
  })
  expect(made).toBe(2)
  expect(texts).toMatch(/\n… 3 more parts; use --json for all of it$/)
})
