import { expect, test } from 'vitest'
import { readBody } from './body.ts'
import { readStream, type StreamOptions } from './stream.ts'

const NOTE = 'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n'

/** A stream whose data is always at hand. `onChunk` is called before each chunk. */
function ready(text: string, chunks: number, onChunk: (at: number) => void = () => undefined): Response {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    onChunk(at)
    if (at++ < chunks) controller.enqueue(bytes)
    else controller.close()
  }
  return new Response(new ReadableStream({ pull }))
}

function options(more: Partial<StreamOptions> = {}): StreamOptions {
  return {
    maxBytes: 100_000,
    signal: new AbortController().signal,
    leftovers: new Set(),
    onEvent: () => false,
    onRetry: () => undefined,
    onOversize: () => undefined,
    ...more,
  }
}

/** How often others had a turn before `act` was done. */
async function turnsDuring(act: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = (): void => {
    if (isDone) return
    turns++
    setImmediate(count)
  }
  setImmediate(count)
  await act()
  isDone = true
  return turns
}

test.each([
  ['comments', ':\n'.repeat(4096)],
  ['notifications', NOTE.repeat(64)],
  ['ids', 'id\n\n'.repeat(1024)],
])('others get their turns while a stream of %s is read', async (_, text) => {
  expect(await turnsDuring(() => readStream(ready(text, 1000), options()))).toBeGreaterThan(10)
})

test('others get their turns within a large chunk', async () => {
  expect(await turnsDuring(() => readStream(ready(NOTE.repeat(20_000), 1), options()))).toBeGreaterThan(10)
})

test('others get their turns while a body of tiny chunks is read', async () => {
  const { signal } = new AbortController()
  expect(
    await turnsDuring(() => readBody(ready(' ', 10_000), 20_000, signal, () => undefined)),
  ).toBeGreaterThan(5)
})

test('a timer stops a stream that does not end', async () => {
  const abort = new AbortController()
  setTimeout(() => abort.abort(new Error('late')), 10)
  const endless = ready(NOTE, 500_000)
  await expect(readStream(endless, options({ signal: abort.signal }))).rejects.toThrow('late')
})

test.each([
  ['comments', ':\n'.repeat(32_768)],
  ['ids', 'id\n\n'.repeat(16_384)],
  ['events of other kinds', 'event: ping\ndata: x\n\n'.repeat(3200)],
])('a stream of nothing but %s is closed', async (_, text) => {
  let chunks = 0
  const seen: boolean[] = []
  const onOversize = (isEnd: boolean): void => void seen.push(isEnd)
  const response = ready(text, 1000, (at) => (chunks = at))
  expect(await readStream(response, options({ onOversize }))).toBe(false)
  expect(seen).toEqual([true])
  expect(chunks).toBeLessThan(100)
})

test('a message in between keeps a stream open', async () => {
  const seen: boolean[] = []
  let events = 0
  const onOversize = (isEnd: boolean): void => void seen.push(isEnd)
  const onEvent = (): boolean => ++events === 100
  const text = ':\n'.repeat(32_768) + NOTE
  expect(await readStream(ready(text, 100), options({ onOversize, onEvent }))).toBe(true)
  expect(seen).toEqual([])
})
