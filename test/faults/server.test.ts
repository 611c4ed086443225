import { createServer as createRelay, connect as dial, type AddressInfo, type Socket } from 'node:net'
import { existsSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, headed, message } from '../http/messages.ts'
import { open } from '../http/server.ts'
import { begin, send, stream } from '../http/wire.ts'
import { Program } from '../overload/program.ts'

const MIB = 1024 * 1024
const LISTEN = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })

const tool = (name: string, args: object = {}, id: number = 1): ReturnType<typeof headed> =>
  headed('tools/call', { name, arguments: { ...args }, _meta: { progressToken: 't' } }, id)

const get = async (port: number, path: string): Promise<number> =>
  (await send(port, { method: 'GET', path })).status

describe('a server that is killed', () => {
  test('under 200 calls fails them all, leaves no zombie, and can be started again on its port [F1]', async () => {
    const program = await Program.start()
    const { port } = program
    const calls = Array.from({ length: 200 }, (_, id) =>
      send(port, tool('sleep', { of: 30_000 }, id)).then(
        () => 'answered',
        () => 'failed',
      ),
    )
    await expect.poll(async () => (await program.state()).running).toBe(200)
    program.process.kill('SIGKILL')
    const ends = await Promise.all(calls)
    expect(new Set(ends)).toEqual(new Set(['failed']))
    expect(await program.exited).toBe('SIGKILL')
    expect(existsSync(`/proc/${program.process.pid}`)).toBe(false)
    await Program.start({ port })
    expect((await send(port, tool('echo', { text: 'x' }))).status).toBe(200)
  })

  test('politely finishes what runs, ends what lasts with a result, and ends with code 0 [F20]', async () => {
    const program = await Program.start()
    const { port } = program
    const calls = Array.from({ length: 50 }, (_, id) => send(port, tool('sleep', { of: 3000 }, id)))
    const listening = await Promise.all(Array.from({ length: 20 }, () => stream(port, LISTEN)))
    const session = await open(port)
    const own = await session.get()
    await expect.poll(async () => (await program.state()).running).toBe(70)
    program.process.kill('SIGTERM')
    await Promise.all(listening.map((one) => one.end()))
    expect(await get(port, '/readyz')).toBe(503)
    const late = await send(port, tool('echo', { text: 'x' }))
    expect([late.status, late.headers['retry-after']]).toEqual([503, '5'])
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]))
    for (const one of listening) expect(one.messages.at(-1)).toMatchObject({ id: 1, result: {} })
    await own.end()
    expect(await program.exited).toBe(0)
    await expect(send(port, tool('echo', { text: 'x' }))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('politely, twice, ends at once [F20]', async () => {
    const program = await Program.start()
    const running = send(program.port, tool('sleep', { of: 30_000 })).catch(() => 'cut')
    await expect.poll(async () => (await program.state()).running).toBe(1)
    program.process.kill('SIGTERM')
    await expect.poll(() => get(program.port, '/readyz')).toBe(503)
    program.process.kill('SIGTERM')
    expect(await program.exited).toBe(143)
    expect(await running).toBe('cut')
  })
})

describe('a client that is gone', () => {
  test('at 2026-07-28 stops its call, and no other [F11]', async () => {
    const program = await Program.start()
    const response = begin(program.port, tool('sleep', { of: 600_000 }))
    response.catch(() => undefined)
    await expect.poll(async () => (await program.state()).running).toBe(1)
    const streaming = await begin(program.port, tool('flood'))
    streaming.on('error', () => undefined).resume()
    await expect.poll(async () => (await program.state()).running).toBe(2)
    streaming.destroy()
    await expect.poll(async () => (await program.state()).running).toBe(1)
    expect((await program.state()).aborted).toEqual(['flood'])
  })

  test('behind a network that drops everything is noticed, and its call stopped [F8]', async () => {
    const program = await Program.start({ limits: { keepAliveMs: 300, streamBytes: 100 * MIB } })
    const relay = await blackHole(program.port)
    const response = await begin(relay.port, tool('flood'))
    response.on('error', () => undefined).resume()
    await expect.poll(async () => (await program.state()).running).toBe(1)
    relay.swallow()
    await expect.poll(async () => (await program.state()).running).toBe(0)
    const { aborted, counts } = await program.state()
    expect([aborted, counts['slow_reader']]).toEqual([['flood'], 1])
    await expect.poll(async () => (await program.state()).unsent).toBe(0)
  })

  test('with a call in a session leaves the session usable, and the answer waits [F9]', async () => {
    const program = await Program.start()
    const session = await open(program.port)
    const streaming = await session.stream(call('steps', { of: 20 }, 2, { progressToken: 't' }))
    await streaming.until((one) => one.events.length > 3)
    const last = streaming.events.at(-1)?.id as string
    const seen = streaming.messages.length
    streaming.response.destroy()
    const rest = await (await session.get(last)).end()
    expect(rest.messages.at(-1)).toMatchObject({ id: 2, result: { content: [{ text: 'stepped' }] } })
    expect(seen + rest.messages.length).toBe(21)
  })
})

describe('a client that reads slowly', () => {
  test('one byte at a time times out, and nothing is kept [F12]', async () => {
    const program = await Program.start({ limits: { bodyMs: 700 } })
    const response = await begin(program.port, tool('big', { of: 8 * MIB }))
    const timer = setInterval(() => response.read(1), 50)
    const cut = new Promise((resolve) => response.once('error', resolve))
    response.pause()
    expect((await program.state()).unsent).toBeGreaterThan(MIB)
    await expect.poll(async () => (await program.state()).unsent).toBe(0)
    clearInterval(timer)
    response.resume()
    expect(await cut).toMatchObject({ code: 'ECONNRESET' })
    expect((await program.state()).counts['slow_reader']).toBe(1)
  })

  test('with 199 others is rejected before memory runs out, and the server recovers when they disconnect [F17]', async () => {
    const program = await Program.start({ limits: { unsentBytes: 64 * MIB, bodyMs: 600_000 } })
    const { port } = program
    // More than the buffers of most sockets take in, so that the server has to keep the rest.
    const ask = async (): ReturnType<typeof begin> => {
      const response = await begin(port, tool('big', { of: 16 * MIB }))
      return response.on('error', () => undefined).pause()
    }
    const slow = []
    for (let count = 0; count < 20; count++) slow.push(await ask())
    slow.push(...(await Promise.all(Array.from({ length: 180 }, ask))))
    expect((await program.state()).rss).toBeLessThan(512 * MIB)
    expect(new Set(slow.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 503]))
    // Sockets may have taken in more meanwhile, and so made room.
    let refused = await send(port, tool('echo', { text: 'x' }))
    while (refused.status !== 503) {
      slow.push(await ask())
      refused = await send(port, tool('echo', { text: 'x' }))
    }
    expect(refused.headers['retry-after']).toBe('1')
    expect(refused.json['error']).toMatchObject({
      code: 1004,
      data: { refusal: { name: 'BUFFER_OVERFLOW' } },
    })
    expect(await get(port, '/healthz')).toBe(200)
    slow.forEach((response) => response.destroy())
    await expect.poll(async () => (await send(port, tool('echo', { text: 'x' }))).status).toBe(200)
  })
})

describe('the machine', () => {
  test('whose clock jumps by an hour, forth and back, ends no session and no call [F13]', async () => {
    const jumps = `
      const real = Date.now
      let shift = 0
      Date.now = () => real() + shift
      process.on('SIGUSR2', () => { shift = shift === 0 ? 3600000 : shift > 0 ? -3600000 : 0 })`
    const program = await Program.start({
      flags: ['--import', `data:text/javascript,${encodeURIComponent(jumps)}`],
      limits: { keepAliveMs: 100 },
    })
    const session = await open(program.port)
    const own = await session.get()
    const running = session.post(call('sleep', { of: 1200 }, 2))
    for (let jump = 0; jump < 3; jump++) {
      program.process.kill('SIGUSR2')
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect((await session.post(message('ping', {}, 3 + jump))).status).toBe(200)
    }
    expect((await running).json).toMatchObject({ result: { content: [{ text: 'slept' }] } })
    expect([own.ended, (await program.state()).sessions]).toEqual([false, 1])
    own.response.destroy()
  })

  test('that has no descriptors left delays clients, without a crash, a busy loop or a flood of reports [F16]', async () => {
    const program = await Program.start({ before: 'ulimit -n 64' })
    const { port } = program
    expect((await send(port, tool('echo', { text: 'x' }))).status).toBe(200)
    const sockets: Socket[] = []
    for (let count = 0; count < 120; count++) {
      const socket = dial(port, '127.0.0.1')
      sockets.push(socket.on('error', () => undefined))
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
    const before = program.cpuMs
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(program.cpuMs - before).toBeLessThan(400)
    sockets.forEach((socket) => socket.destroy())
    await expect
      .poll(
        () =>
          send(port, tool('echo', { text: 'x' })).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 5000 },
      )
      .toBe(200)
    const { reports } = await program.state()
    expect(reports.length).toBeLessThan(5)
  })

  test('whose loop is held up by a tool is reported, and unwell for a while [F18] [S2-9.4-11]', async () => {
    const program = await Program.start({ limits: 'strict' })
    const { port } = program
    expect([await get(port, '/healthz'), await get(port, '/readyz')]).toEqual([200, 200])
    expect((await send(port, tool('spin', { of: 1300 }))).status).toBe(200)
    await expect.poll(async () => (await program.state()).counts['loop_blocked']).toBe(1)
    const { reports } = await program.state()
    expect(reports).toEqual([expect.stringMatching(/^the event loop was blocked.*: \d{4}$/)])
    expect([await get(port, '/healthz'), await get(port, '/readyz')]).toEqual([503, 503])
    expect((await send(port, tool('echo', { text: 'x' }))).status).toBe(200)
    await expect.poll(() => get(port, '/healthz')).toBe(200)
  })
})

describe('errors that escape from user code', () => {
  const WAYS = ['promise', 'timer', 'listener', 'event', 'stream', 'microtask', 'odd']

  test('are counted and reported, and the process goes on [F19]', async () => {
    const program = await Program.start()
    for (const [at, how] of WAYS.entries()) {
      expect((await send(program.port, tool('stray', { text: how }, at))).status).toBe(200)
    }
    await expect.poll(async () => (await program.state()).counts['unhandled']).toBe(WAYS.length)
    const { reports } = await program.state()
    expect(reports[0]).toBe('uncaught error in user code; the process keeps running: stray promise')
    expect(reports.length).toBeLessThan(4)
    expect((await send(program.port, tool('echo', { text: 'x' }))).status).toBe(200)
    program.process.kill('SIGTERM')
    expect(await program.exited).toBe(0)
  })

  test('end a process that does not want to survive them [F19]', async () => {
    const program = await Program.start({ onUncaught: 'exit' })
    await send(program.port, tool('stray', { text: 'promise' })).catch(() => undefined)
    expect(await program.exited).toBe(1)
    expect(program.stderr).toContain('stray promise')
  })
})

/** A relay to a server that at some point swallows everything, without closing anything. */
async function blackHole(port: number): Promise<{ readonly port: number; swallow(): void }> {
  const sockets: Socket[] = []
  const relay = createRelay((near) => {
    const far = dial(port, '127.0.0.1')
    sockets.push(
      near.on('error', () => undefined),
      far.on('error', () => undefined),
    )
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    sockets.forEach((socket) => socket.destroy())
    relay.close()
  })
  const swallow = (): void => sockets.forEach((socket) => void socket.unpipe().pause())
  return { port: (relay.address() as AddressInfo).port, swallow }
}
