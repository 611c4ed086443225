import { createServer as createTcp } from 'node:net'
import { createInterface } from 'node:readline'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createBackoff } from '../../src/client/backoff.ts'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { CLIENT_LIMITS } from '../../src/protocol/client-limits.ts'
import { LATEST } from '../../src/protocol/revisions.ts'
import { ReconnectBackoff } from '../../src/transport/http/client/reconnect-backoff.ts'
import { testSocket } from '../harness/sockets.ts'
import {
  all,
  answer,
  behave,
  EARLIER,
  endOf,
  failure,
  listen,
  meet,
  methodOf,
  serveWell,
  text,
  tool,
  until,
  WAYS,
  web,
  type Asked,
  type Attack,
  type Wire,
} from '../hostile/peer.ts'
import { scripted } from '../ws/peer.ts'

const SPOKEN = [LATEST, EARLIER] as const

/** An answer to a call whose text has so many bytes. */
function sized(id: unknown, bytes: number): string {
  const whole = (words: string): string =>
    JSON.stringify(answer(id, { resultType: 'complete', ...text(words) }))
  return whole('x'.repeat(bytes - whole('').length))
}

describe('limits.clientBytes an answer is refused from one byte more on, and the next one is taken', () => {
  // In memory a message is a string of the same process: whoever made it holds it already.
  test.each(WAYS.filter((way) => way !== 'memory'))('as a line or an event, over %s', async (way) => {
    for (const speaks of SPOKEN) {
      let bytes = 0
      const { client } = await meet(
        way,
        ({ method, id }, wire) =>
          method === 'tools/call' && bytes > 0 ? wire.send(sized(id, bytes)) : false,
        { speaks, limits: { clientBytes: 3000 }, timeout: '2s' },
      )
      // An event counts as it is written.
      const extra = way === 'http' ? 'data: \n'.length : 0
      for (bytes of [2999 - extra, 3000 - extra]) expect(await endOf(client.call('echo'))).toBe('fine')
      bytes = 3001 - extra
      expect(await failure(client.call('echo'))).toMatchObject({
        kind: 'answer_too_large',
        message: expect.stringContaining('3000 bytes') as string,
      })
      bytes = 0
      expect(await client.call('echo')).toBe('{}')
    }
  })

  test.each(['declared', 'chunked'])('as a body whose length is %s', async (how) => {
    let bytes = 0
    const network = await web((request, response) => {
      if (methodOf(request) !== 'tools/call') return serveWell(request, response, LATEST)
      const body = sized((JSON.parse(request.body) as { id: number }).id, bytes)
      const length = how === 'declared' ? { 'content-length': body.length } : {}
      response.writeHead(200, { 'content-type': 'application/json', ...length })
      response.write(body.slice(0, 100))
      return response.end(body.slice(100))
    })
    const client = await connect(network.url, { limits: { clientBytes: 3000 } })
    for (bytes of [2999, 3000]) expect(await endOf(client.call('echo'))).toBe('fine')
    bytes = 3001
    expect(await endOf(client.call('echo'))).toBe('answer_too_large')
    await client.close()
  })
})

test.each(WAYS)('limits.clientQuestions further questions of a minute are rejected, over %s', async (way) => {
  let shown = 0
  const answers = { elicit: () => (shown++, { action: 'decline' as const }) }
  const settings = { answers, limits: { clientQuestions: 3 } }
  const question = { method: 'elicitation/create', params: { message: 'Who?' } }
  const live = await meet(
    way,
    ({ method, id }, wire) => {
      if (method !== 'tools/call') return false
      for (let at = 0; at < 5; at++) wire.send({ jsonrpc: '2.0', id: `p${at}`, method: 'ping' })
      for (let at = 0; at < 5; at++) wire.send({ jsonrpc: '2.0', id: `q${at}`, ...question })
      return wire.send(answer(id, text('done')))
    },
    { ...settings, speaks: EARLIER },
  )
  await live.client.call('echo')
  const replies = (start: string): readonly Asked[] =>
    live.seen.filter(({ id }) => String(id).startsWith(start))
  await expect.poll(() => [replies('p').length, replies('q').length]).toEqual([5, 5])
  expect(replies('p').filter(({ result }) => result !== undefined)).toHaveLength(5)
  expect(replies('q').filter(({ result }) => result !== undefined)).toHaveLength(3)
  expect(replies('q').find(({ error }) => error !== undefined)?.error).toMatchObject({
    message: expect.stringContaining('more than 3 questions within a minute') as string,
  })
  expect(shown).toBe(3)
  const rounds = await meet(
    way,
    ({ method, params }, wire) => {
      if (method !== 'tools/call') return false
      const inputRequests = { a: question, b: question }
      return wire.reply(
        params['inputResponses'] === undefined
          ? { resultType: 'input_required', inputRequests }
          : { resultType: 'complete', ...text('done') },
      )
    },
    settings,
  )
  expect(await endOf(rounds.client.call('echo'))).toBe('fine')
  expect(await endOf(rounds.client.call('echo'))).toBe('asked_too_often')
  expect(shown).toBe(6)
})

test.each(WAYS)('limits.depth an answer is refused from one level more on, over %s', async (way) => {
  for (const speaks of SPOKEN) {
    let levels = 0
    const { client } = await meet(
      way,
      ({ method, id }, wire) => {
        if (method !== 'tools/call') return false
        // The message, its result and the structure are three levels.
        const value = '['.repeat(levels - 3) + ']'.repeat(levels - 3)
        const result = { resultType: 'complete', content: [], structuredContent: { a: 'x' } }
        return wire.send(JSON.stringify(answer(id, result)).replace('"x"', value))
      },
      { speaks, limits: { depth: 20 }, timeout: '2s' },
    )
    for (levels of [19, 20]) expect([levels, await endOf(client.call('echo'))]).toEqual([levels, 'fine'])
    levels = 21
    expect(await failure(client.call('echo'))).toMatchObject({
      kind: 'bad_answer',
      message: expect.stringContaining('nested deeper than 20 levels') as string,
    })
  }
})

test.each(WAYS)('limits.values an answer is refused from one value more on, over %s', async (way) => {
  for (const speaks of SPOKEN) {
    let values = 0
    const { client } = await meet(
      way,
      ({ method, id }, wire) => {
        if (method !== 'tools/call') return false
        const result = { resultType: 'complete', content: [], structuredContent: { a: ['x'] } }
        const whole = JSON.stringify(answer(id, result))
        let count = 0
        JSON.parse(whole, (_, value: unknown) => (count++, value))
        const items = Array.from({ length: values - count + 1 }, () => '{}')
        return wire.send(whole.replace('"x"', items.join()))
      },
      { speaks, limits: { values: 50 }, timeout: '2s' },
    )
    for (values of [49, 50]) expect([values, await endOf(client.call('echo'))]).toEqual([values, 'fine'])
    values = 51
    expect(await failure(client.call('echo'))).toMatchObject({
      kind: 'bad_answer',
      message: expect.stringContaining('more than 50 values') as string,
    })
  }
})

test.each(WAYS)('limits.keys an answer is refused from one member more on, over %s', async (way) => {
  for (const speaks of SPOKEN) {
    let members = 0
    const { client } = await meet(
      way,
      ({ method, id }, wire) => {
        if (method !== 'tools/call') return false
        const result = { resultType: 'complete', content: [], structuredContent: { a: 'x' } }
        // The message has three, the result three, and the structure one.
        const more = Array.from({ length: members - 7 }, (_, at) => [`k${at}`, at])
        return wire.send(
          JSON.stringify(answer(id, result)).replace('"x"', JSON.stringify(Object.fromEntries(more))),
        )
      },
      { speaks, limits: { keys: 50 }, timeout: '2s' },
    )
    for (members of [49, 50]) expect([members, await endOf(client.call('echo'))]).toEqual([members, 'fine'])
    members = 51
    expect(await failure(client.call('echo'))).toMatchObject({
      kind: 'bad_answer',
      message: expect.stringContaining('more than 50 object members') as string,
    })
  }
})

test.each(WAYS)(
  'limits.containers an answer is refused from one object or list more on, over %s',
  async (way) => {
    for (const speaks of SPOKEN) {
      let opened = 0
      const { client } = await meet(
        way,
        ({ method, id }, wire) => {
          if (method !== 'tools/call') return false
          const result = { resultType: 'complete', content: [], structuredContent: { a: 'x' } }
          // The message, the result, its content, the structure and the list are five.
          const more = Array.from({ length: opened - 5 }, () => '{}')
          return wire.send(JSON.stringify(answer(id, result)).replace('"x"', `[${more.join()}]`))
        },
        { speaks, limits: { containers: 50 }, timeout: '2s' },
      )
      for (opened of [49, 50]) expect([opened, await endOf(client.call('echo'))]).toEqual([opened, 'fine'])
      opened = 51
      expect(await failure(client.call('echo'))).toMatchObject({
        kind: 'bad_answer',
        message: expect.stringContaining('more than 50 objects and lists') as string,
      })
    }
  },
)

test.each(['http', 'sse', 'ws', 'tcp', 'unix'] as const)(
  'limits.values are those of the client when it reads from our own server over %s',
  async (transport) => {
    const app = createServer({ name: 'many', version: '1' }).tool('many', {}, () => ({
      content: Array.from({ length: 20 }, () => ({ type: 'text' as const, text: 'x' })),
    }))
    const running = await app.listen({
      http: { port: 0, sse: true },
      ws: true,
      tcp: { port: 0 },
      unix: testSocket(),
    })
    onTestFinished(() => running.close())
    const sse = new URL('/sse', running.url).href
    const url = transport === 'sse' ? sse : (running.addresses[transport] as string)
    for (const values of [60, 100]) {
      const client = await connect(url, { revision: '2024-11-05', limits: { values } })
      const outcome = client.call('many').then(
        () => 'read',
        (error: Error) => error.message,
      )
      expect(await outcome).toContain(values === 60 ? 'more than 60 values' : 'read')
      await client.close()
    }
  },
)

test.each(WAYS)('limits.batch messages are ignored from one more in a batch on, over %s', async (way) => {
  for (const speaks of SPOKEN) {
    let members = 0
    const { client } = await meet(
      way,
      ({ method }, wire) => {
        if (method !== 'tools/call') return false
        const note = { jsonrpc: '2.0', method: 'notifications/x' }
        wire.send(Array.from({ length: members }, () => note))
        return wire.reply({ resultType: 'complete', ...text('fine') })
      },
      { speaks, limits: { batch: 20 } },
    )
    let heard = 0
    client.on('notification', () => heard++)
    for (members of [1, 19, 20]) expect(await client.call('echo')).toBe('fine')
    expect(heard).toBe(40)
    members = 21
    // Over HTTP, such a message is an answer to the call.
    const outcome = await client.call('echo').catch(({ message }: Error) => message)
    const expected = way === 'http' ? 'a batch of more than 20 messages' : 'fine'
    expect([heard, outcome]).toEqual([40, expect.stringContaining(expected)])
  }
})

test.each(WAYS)(
  'limits.idLength a question with a longer id gets an error without it, over %s',
  async (way) => {
    let length = 0
    const { client, seen } = await meet(
      way,
      ({ method }, wire) => {
        if (method !== 'tools/call') return false
        wire.send({ jsonrpc: '2.0', id: 'x'.repeat(length), method: 'ping' })
        return setTimeout(() => wire.reply(text('fine')), 50)
      },
      { speaks: EARLIER, limits: { idLength: 40 } },
    )
    const replies = (): unknown[] => seen.filter(({ method }) => method === undefined)
    for (length of [39, 40, 41]) {
      const before = replies().length
      expect(await client.call('echo')).toBe('fine')
      await until(() => replies().length > before)
    }
    expect(replies()).toMatchObject([
      { id: 'x'.repeat(39), result: {} },
      { id: 'x'.repeat(40), result: {} },
      {},
    ])
    expect(replies()[2]).toMatchObject({
      error: { code: -32600, message: 'the id is longer than 40 characters' },
    })
    expect(replies()[2]).not.toHaveProperty('id')
  },
)

describe('limits.clientInvalid a server is given up after so many invalid messages in a row', () => {
  const LIMITED = { speaks: EARLIER, limits: { clientInvalid: 20 }, timeout: '20s' } as const
  let junk: readonly string[] = []
  const attack: Attack = ({ method }, wire) => {
    if (method !== 'tools/call') return false
    for (const one of junk) wire.send(one)
    return wire.reply(text('fine'))
  }

  test.each([
    ['objects', ['{}']],
    ['lines of text', ['listening']],
    ['broken objects', ['{"a"']],
    ['batches of ten', [`[${Array.from({ length: 10 }, () => '{}').join()}]`]],
  ])('over stdio: %s', async (_, line) => {
    const { client, count } = await meet('stdio', attack, LIMITED)
    const enough = line[0]!.startsWith('[') ? 2 : 20
    junk = Array.from({ length: enough - 1 }, () => line[0]!)
    for (let call = 0; call < 3; call++) expect(await client.call('echo')).toBe('fine')
    junk = [...junk, ...line]
    expect(await failure(client.call('echo'))).toMatchObject({
      kind: 'bad_answer',
      message: expect.stringContaining('20 invalid messages in a row') as string,
    })
    junk = []
    expect(await client.call('echo')).toBe('fine')
    expect(count('initialize')).toBe(2)
  })

  test.each(['tcp', 'ws'] as const)('over %s', async (transport) => {
    const url = transport === 'ws' ? await overWs() : await overTcp()
    const client = await connect(url, { limits: LIMITED.limits, timeout: LIMITED.timeout, revision: EARLIER })
    junk = Array.from({ length: 19 }, () => '{}')
    for (let call = 0; call < 3; call++) expect(await client.call('echo')).toBe('fine')
    junk = [...junk, '{}']
    expect(await endOf(client.call('echo'))).toBe('bad_answer')
    junk = []
    expect(await client.call('echo')).toBe('fine')
    await client.close()
  })

  async function overTcp(): Promise<string> {
    const server = createTcp((socket) => {
      createInterface({ input: socket }).on('line', (line) =>
        take(line, (words) => void socket.write(`${words}\n`)),
      )
    })
    return `tcp://127.0.0.1:${await listen(server)}`
  }

  async function overWs(): Promise<string> {
    const { url } = await scripted((asked, socket) =>
      take(JSON.stringify(asked), (words) => socket.send(words)),
    )
    return url
  }

  function take(line: string, write: (words: string) => void): void {
    const asked = { params: {}, ...(JSON.parse(line) as object) } as Asked
    const send = (words: string | object): void =>
      write(typeof words === 'string' ? words : JSON.stringify(words))
    const reply = (result: unknown): void => send(answer(asked.id, result))
    const wire: Wire = { send, reply, leave: () => undefined }
    if (attack(asked, wire) === false) behave(EARLIER, asked, wire)
  }
})

test.each(WAYS)('limits.pages a list is given up from one page more on, over %s', async (way) => {
  for (const speaks of SPOKEN) {
    let pages = 0
    const { client } = await meet(
      way,
      ({ method, params }, wire) => {
        if (method !== 'tools/list') return false
        const page = Number(params['cursor'] ?? 1)
        const more = page < pages ? { nextCursor: String(page + 1) } : {}
        return wire.reply({
          resultType: 'complete',
          tools: [tool(`t${page}`)],
          ttlMs: 0,
          cacheScope: 'private',
          ...more,
        })
      },
      { speaks, limits: { pages: 5 } },
    )
    for (pages of [4, 5]) expect(await all(client.tools())).toHaveLength(pages)
    pages = 6
    expect(await failure(all(client.tools()))).toMatchObject({
      kind: 'answer_too_large',
      message: 'the server sent more than 5 pages of one list',
    })
    expect(await client.call('echo')).toBe('{}')
  }
})

test.each(WAYS)(
  'timeout and total end a request that is silent, or lively without an end, over %s',
  async (way) => {
    let act = ''
    const { client } = await meet(
      way,
      ({ method, id, params }, wire) => {
        if (method !== 'tools/call' || act === '') return false
        if (act === 'late')
          return setTimeout(() => wire.send(answer(id, { resultType: 'complete', ...text('late') })), 150)
        const { progressToken } = params['_meta'] as { progressToken: number }
        let progress = 0
        const timer = setInterval(() => {
          wire.send({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, progress: ++progress },
          })
        }, 100)
        return setTimeout(() => clearInterval(timer), 3000)
      },
      { timeout: 800, total: 1800 },
    )
    act = 'late'
    expect(await client.call('echo')).toBe('late')
    act = 'lively'
    const error = await failure(client.call('echo', {}, { onProgress: () => undefined }))
    expect(error).toMatchObject({ kind: 'timeout', message: expect.stringContaining('1800 ms') as string })
    expect(error.ms).toBeGreaterThan(1700)
  },
)

test('limits.clientIds a client whose ids are used up goes on over a new connection', async () => {
  let connections = 0
  const app = createServer({ name: 'counts', version: '1' }).tool('echo', {}, () => 'echo')
  const counted: typeof app.connect = (options) => {
    connections++
    return app.connect(options)
  }
  const client = await connect({ connect: counted } as never, { limits: { clientIds: 5 }, revision: EARLIER })
  for (const calls of [3, 1, 1]) {
    for (let each = 0; each < calls; each++) expect(await client.call('echo')).toBe('echo')
  }
  expect(connections).toBe(2)
  await client.close()
})

describe('coming back', () => {
  const defaults = {
    firstMs: CLIENT_LIMITS.reconnectFirstMs.usual,
    maxMs: CLIENT_LIMITS.reconnectMaxMs.usual,
    floorMs: CLIENT_LIMITS.reconnectFloorMs.usual,
  }

  test('limits.reconnectFirstMs limits.reconnectMaxMs the time before each attempt grows from one to the other, with jitter', () => {
    for (const jitter of [0, 1]) {
      const pace = new ReconnectBackoff(defaults, () => jitter)
      const waits = Array.from({ length: 8 }, () => pace.next(undefined, false) / (1 + 0.2 * jitter))
      expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
    }
  })

  test('limits.reconnectFloorMs a server that asks for less is not taken at its word', () => {
    for (const [asked, waited] of [
      [0, 100],
      [99, 100],
      [100, 100],
      [101, 101],
    ] as const) {
      expect(new ReconnectBackoff(defaults, () => 0).next(asked, false)).toBe(waited)
    }
  })

  test('limits.reconnectFirstMs programs and connections that keep failing are spaced out by the same limits', async () => {
    const backoff = createBackoff({ firstMs: 60, maxMs: 100 }, () => 0)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const waited: number[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      const begun = performance.now()
      let isOver = false
      void backoff.wait(new AbortController().signal).then(() => (isOver = true))
      await vi.advanceTimersByTimeAsync(0)
      while (!isOver) await vi.advanceTimersByTimeAsync(1)
      waited.push(performance.now() - begun)
      backoff.failed()
    }
    expect(waited).toEqual([0, 0, 60, 100, 100])
  })

  test('limits.reconnectFloorMs limits.reconnectMaxMs hold for a stream that ends at once and asks to be opened at once', async () => {
    const opened: number[] = []
    const network = await web((request, response) => {
      if (request.verb !== 'GET') return serveWell(request, response, EARLIER, 'one')
      opened.push(performance.now())
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n')
    })
    const limits = { reconnectFloorMs: 150, reconnectFirstMs: 150, reconnectMaxMs: 300 }
    const client = await connect(network.url, { revision: EARLIER, limits })
    await until(() => opened.length >= 4)
    const gaps = opened.slice(1).map((at, index) => at - opened[index]!)
    expect(gaps.every((ms) => ms >= 145)).toBe(true)
    await client.close()
  })
})
