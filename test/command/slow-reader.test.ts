import { EventEmitter } from 'node:events'
import type { Client } from 'pierhead/client'
import { expect, it } from 'vitest'
import { Flags, type Invocation } from '../../src/cli/command.ts'
import { watch } from '../../src/cli/commands/watch.ts'
import type { Io } from '../../src/cli/io.ts'
import { Output } from '../../src/cli/output.ts'

/** A stream whose reader takes nothing until it resumes. */
class PausedStream {
  readonly columns = 100
  readonly isTTY: boolean
  text = ''
  #isPaused = true
  readonly #waiting: (() => void)[] = []

  constructor(isTTY: boolean) {
    this.isTTY = isTTY
  }

  write(text: string, done: () => void = () => undefined): boolean {
    this.text += text
    if (this.#isPaused) this.#waiting.push(done)
    else queueMicrotask(done)
    return !this.#isPaused
  }

  resume(): void {
    this.#isPaused = false
    for (const done of this.#waiting.splice(0)) done()
  }

  get lines(): readonly string[] {
    return this.text.split('\n').slice(0, -1)
  }
}

/** Streams that nobody reads, and the output to them. */
function paused(isTTY: boolean): {
  readonly io: Io
  readonly output: Output
  readonly stdout: PausedStream
  readonly stderr: PausedStream
} {
  const [stdout, stderr] = [new PausedStream(isTTY), new PausedStream(isTTY)]
  const io = { stdout, stderr, env: { NO_COLOR: '1' }, signal: new AbortController().signal } as unknown as Io
  return { io, output: new Output(io), stdout, stderr }
}

/** Watches a server that sends these log messages while nobody reads, and one more once all was read. */
async function watched(isTTY: boolean, messages: Iterable<object>): Promise<PausedStream> {
  const { io, output, stdout, stderr } = paused(isTTY)
  stderr.resume()
  const server = new EventEmitter()
  const client = {
    on: (name: string, listener: (event: object) => void) => server.on(name, listener),
    server: async () => ({ capabilities: {} }),
    setLogLevel: async () => undefined,
    async *watch() {
      for (const message of messages) server.emit('log', message)
      stdout.resume()
      await new Promise((resolve) => setImmediate(resolve))
      server.emit('log', { level: 'error', data: 'the last' })
      yield* []
    },
  } as unknown as Client
  const invocation = {
    words: [],
    flags: new Flags([['log', 'error']]),
    io,
    output,
    open: async () => ({ client }),
  }
  await watch.run(invocation as unknown as Invocation)
  await output.flush()
  return stdout
}

const MANY = 10_000
const messages = Array.from({ length: MANY }, (_, at) => ({
  level: 'error',
  data: `${at} ${'y'.repeat(2000)}`,
}))

it('keeps about a megabyte of log messages that nobody reads, and says how many it left out', async () => {
  const { text, lines } = await watched(false, messages)
  expect(text.length).toBeLessThan(1_200_000)
  const events = lines.map((line) => JSON.parse(line) as { kind: string; omitted?: number; data?: unknown })
  const shown = events.slice(0, -2)
  expect(shown).toEqual(messages.slice(0, shown.length).map((one) => ({ kind: 'log', ...one })))
  expect(shown.length).toBeGreaterThan(100)
  expect(events.slice(-2)).toEqual([
    { kind: 'omitted', omitted: MANY - shown.length },
    { kind: 'log', level: 'error', data: 'the last' },
  ])
})

it('says on a terminal too how many log messages it left out', async () => {
  const { lines } = await watched(true, messages)
  const shown = lines.slice(0, -2)
  expect(shown.join('').length).toBeLessThan(1_200_000)
  expect(lines.at(-2)).toContain(`… ${MANY - shown.length} lines were left out`)
  expect(lines.at(-1)).toBe('error the last')
})

it('leaves nothing out as long as there is room', async () => {
  const { lines } = await watched(false, messages.slice(0, 20))
  expect(lines).toHaveLength(21)
})

it('prints the beginning of very long log messages, however they are nested', async () => {
  let deep: unknown = 'end'
  for (let level = 0; level < 50_000; level++) deep = { a: [deep] }
  const long = [
    { level: 'error', logger: 'l'.repeat(1_000_000), data: 'd'.repeat(1_000_000) },
    { level: 'error', data: ['e'.repeat(100), 'e'.repeat(1_000_000)] },
    { level: 'error', data: deep },
    { level: 'error', data: 'short', _meta: { a: 'x'.repeat(1_000_000) } },
  ]
  const { lines } = await watched(false, long)
  for (const line of lines) expect(line.length).toBeLessThan(200_000)
  const events = lines.map((line) => JSON.parse(line) as object)
  expect(events).toEqual([
    { kind: 'log', level: 'error', logger: 'l'.repeat(200), data: 'd'.repeat(65_536), isClipped: true },
    { kind: 'log', level: 'error', data: `["${'e'.repeat(100)}","${'e'.repeat(65_431)}`, isClipped: true },
    { kind: 'log', level: 'error', data: '{"a":['.repeat(10_923).slice(0, 65_536), isClipped: true },
    { kind: 'log', level: 'error', data: 'short', isClipped: true },
    { kind: 'log', level: 'error', data: 'the last' },
  ])
  const terminal = await watched(true, long)
  expect(terminal.lines).toHaveLength(5)
  for (const line of terminal.lines) expect(line.length).toBeLessThan(600)
})

it('keeps about a megabyte of notes that nobody reads, such as what a program prints, and every error', async () => {
  const { output, stderr, stdout } = paused(false)
  for (let at = 0; at < MANY; at++) output.note(`server: ${'z'.repeat(2000)}`)
  output.error('it failed')
  expect(stderr.text.length).toBeLessThan(1_200_000)
  expect(stderr.text).toContain('error: it failed')
  const shown = stderr.lines.length - 1
  for (const one of [stdout, stderr]) one.resume()
  await output.flush()
  expect(stderr.lines.at(-1)).toContain(`… ${MANY - shown} lines were left out`)
})
