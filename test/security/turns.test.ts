import { afterAll, expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { closeListeners } from '../harness/connection-http.ts'
import type { AnyApp } from '../harness/connection.ts'
import { until } from '../hostile/peer.ts'
import { headed } from '../http/messages.ts'
import { dial, serveOver } from '../tcp/wire.ts'
import { frame } from '../ws/raw.ts'
import { open as openWs, start } from '../ws/server.ts'

afterAll(() => closeListeners())

const CONNECTIONS = 40
const EACH = 12
const MESSAGES = Array.from({ length: EACH }, (_, at) => headed('tools/call', { name: 'slow' }, at + 1).body)

/** Sends the messages of one connection. */
type Send = () => void

const OPEN = {
  async tcp(app: AnyApp): Promise<readonly Send[]> {
    const address = await serveOver('tcp', app)
    const wires = await Promise.all(Array.from({ length: CONNECTIONS }, () => dial(address)))
    return wires.map(
      ({ socket }) =>
        () =>
          socket.write(MESSAGES.map((text) => `${text}\n`).join('')),
    )
  },
  async ws(app: AnyApp): Promise<readonly Send[]> {
    const { port } = await start(app)
    const raws = await Promise.all(Array.from({ length: CONNECTIONS }, () => openWs(port)))
    return raws.map((raw) => () => raw.write(Buffer.concat(MESSAGES.map((text) => frame(text)))))
  },
}

test.each(['tcp', 'ws'] as const)(
  'many connections share one turn, so that the process also does other work, %s',
  async (kind) => {
    let made = 0
    const app = createServer({ name: 'target', version: '1', log: () => undefined }).tool('slow', {}, () => {
      const end = performance.now() + 2
      while (performance.now() < end);
      made++
      return 'done'
    }) as AnyApp
    const sends = await OPEN[kind](app)
    /** How many requests were answered in each turn of the event loop. */
    const perTurn: number[] = []
    let before = 0
    const count = (): void => {
      perTurn.push(made - before)
      before = made
      if (made < CONNECTIONS * EACH) setImmediate(count)
    }
    for (const send of sends) send()
    setImmediate(count)
    await until(() => made === CONNECTIONS * EACH, 30_000)
    // A turn lasts 20 ms, and each request takes 2 of them.
    expect(Math.max(...perTurn)).toBeLessThan(25)
  },
)

test.each([false, true])(
  'a generator that waits for nothing lets others have their turns, with progress: %s',
  async (hasProgress) => {
    let made = 0
    const work = (): string => {
      const end = performance.now() + 2
      while (performance.now() < end);
      return `row ${++made}`
    }
    const app = createServer({ name: 'target', version: '1', log: () => undefined })
      .tool('rows', {}, function* () {
        for (let at = 0; at < 60; at++) yield work()
      })
      .tool('later', {}, async function* () {
        for (let at = 0; at < 60; at++) yield work()
      })
    for (const name of ['rows', 'later'] as const) {
      made = 0
      const perTurn: number[] = []
      let before = 0
      const count = (): void => {
        perTurn.push(made - before)
        before = made
        if (made < 60) setImmediate(count)
      }
      const client = await connect(app)
      setImmediate(count)
      await client.call(name, {}, hasProgress ? { onProgress: () => undefined } : {})
      await until(() => before === 60)
      await client.close()
      expect([name, Math.max(...perTurn) < 25]).toEqual([name, true])
    }
  },
)

test('a template that lists many resources lets others have their turns', async () => {
  let made = 0
  const app = createServer({ name: 'target', version: '1', log: () => undefined })
  for (const scheme of ['one', 'two'])
    app.resource(
      `${scheme}://{id}`,
      {
        *list() {
          for (let at = 0; at < 30; at++) {
            const end = performance.now() + 2
            while (performance.now() < end);
            made++
            yield { variables: { id: at } }
          }
        },
      },
      () => 'x',
    )
  const perTurn: number[] = []
  let before = 0
  const count = (): void => {
    perTurn.push(made - before)
    before = made
    if (made < 60) setImmediate(count)
  }
  const client = await connect(app as AnyApp)
  setImmediate(count)
  const listed: unknown[] = []
  for await (const resource of client.resources()) listed.push(resource)
  expect(listed).toHaveLength(60)
  await until(() => before === 60)
  await client.close()
  // A turn lasts 20 ms, and each entry takes 2 of them.
  expect(Math.max(...perTurn)).toBeLessThan(25)
})
