import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { MemoryTaskStore } from '../../src/store/tasks-memory.ts'

const SURE = z.object({ sure: z.boolean() })

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

/** A server whose task asks a question, and its URL. */
async function asking() {
  const app = createServer({ name: 'tasks', version: '1', log: () => undefined }).tool(
    'asks',
    { task: 'required' },
    async (_, { elicit }) => `you said ${(await elicit('Sure?', SURE)).action}`,
  )
  stops.push(() => app.close())
  const { url } = await app.listen({ http: { port: 0 } })
  return { app, url: String(url) }
}

/** A session of 2025-11-25 over HTTP whose connections the test ends as it likes. */
class RawSession {
  readonly #url: string
  #id: string | undefined
  #next = 1

  constructor(url: string) {
    this.#url = url
  }

  async open(): Promise<this> {
    const client = { name: 'raw', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: client }
    const response = await this.#post({ id: this.#next++, method: 'initialize', params })
    this.#id = response.headers.get('mcp-session-id') ?? undefined
    await response.text()
    await (await this.#post({ method: 'notifications/initialized' })).text()
    return this
  }

  /** Starts the task, and answers its id. */
  async start(): Promise<string> {
    const params = { name: 'asks', task: {} }
    const response = await this.#post({ id: this.#next++, method: 'tools/call', params })
    return /"taskId":"([^"]+)"/.exec(await response.text())![1]!
  }

  /** Asks for the result of a task. */
  async result(taskId: string): Promise<ResultStream> {
    const drop = new AbortController()
    const request = { id: this.#next++, method: 'tasks/result', params: { taskId } }
    const stream = new ResultStream(drop, await this.#post(request, drop.signal))
    stops.push(() => stream.drop())
    return stream
  }

  /** Asks for the result of a task on a connection of its own, until `drop` aborts. */
  wait(taskId: string, drop: AbortSignal): void {
    this.#post({ id: this.#next++, method: 'tasks/result', params: { taskId } }, drop).catch(() => undefined)
  }

  async accept(id: unknown): Promise<void> {
    await (await this.#post({ id, result: { action: 'accept', content: { sure: true } } })).text()
  }

  #post(message: JsonObject, signal?: AbortSignal): Promise<Response> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...(this.#id !== undefined && { 'mcp-session-id': this.#id }),
    }
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    return fetch(this.#url, { method: 'POST', headers, body, ...(signal !== undefined && { signal }) })
  }
}

/** The stream of a request for the result of a task. */
class ResultStream {
  readonly #drop: AbortController
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor(drop: AbortController, response: Response) {
    this.#drop = drop
    this.#reader = response.body!.getReader()
  }

  /** The first match in what was sent. */
  async read(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#text)
      if (found !== null) return found[0]
      const { value, done } = await this.#reader.read()
      if (done) throw new Error(`the stream ended with ${this.#text}`)
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }

  /** The id of the question. */
  async question(): Promise<unknown> {
    const data = await this.read(/\{.*"elicitation\/create".*\}(?=\n)/)
    return (JSON.parse(data) as JsonObject)['id']
  }

  /** Ends the connection as a process that dies does. */
  async drop(): Promise<void> {
    this.#drop.abort()
    await this.#reader.cancel().catch(() => undefined)
  }
}

test.each(['a new session', 'the same session'])(
  'the question of a client whose connection ended is asked again in %s',
  async (where) => {
    const { url } = await asking()
    const first = await new RawSession(url).open()
    const id = await first.start()
    const stream = await first.result(id)
    await stream.question()
    const second = where === 'a new session' ? await new RawSession(url).open() : first
    await stream.drop()
    const again = await second.result(id)
    await second.accept(await again.question())
    expect(await again.read(/you said \w+/)).toBe('you said accept')
  },
)

test('a client in another session is asked too, and the first answer counts', async () => {
  const { url } = await asking()
  const [one, two] = [await new RawSession(url).open(), await new RawSession(url).open()]
  const id = await one.start()
  const streams = [await one.result(id), await two.result(id)] as const
  const [question] = await Promise.all([streams[0].question(), streams[1].question()])
  await one.accept(question)
  for (const stream of streams) expect(await stream.read(/you said \w+/)).toBe('you said accept')
})

/** How often a task is looked at when so many requests for its result lose their connections, until another one has got the result. */
async function looksAfterLeaving(count: number): Promise<number> {
  const { url } = await asking()
  const sessions: RawSession[] = []
  for (let at = 0; at < 4; at++) sessions.push(await new RawSession(url).open())
  const id = await sessions[0]!.start()
  const looks = vi.spyOn(MemoryTaskStore.prototype, 'head')
  stops.push(async () => looks.mockRestore())
  const drop = new AbortController()
  for (let at = 0; at < count; at++) sessions[at % 4]!.wait(id, drop.signal)
  await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThanOrEqual(count), { timeout: 10_000 })
  const last = await new RawSession(url).open()
  looks.mockClear()
  drop.abort()
  const stream = await last.result(id)
  await last.accept(await stream.question())
  expect(await stream.read(/you said \w+/)).toBe('you said accept')
  const found = looks.mock.calls.length
  looks.mockRestore()
  return found
}

test('the work when clients leave grows with their number, not with its square', async () => {
  const few = await looksAfterLeaving(25)
  const many = await looksAfterLeaving(100)
  expect(many).toBeLessThan(8 * few + 50)
})
