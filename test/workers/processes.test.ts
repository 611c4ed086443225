import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as netConnect, createServer as createNetServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { BOTH, call, message } from '../http/messages.ts'
import { open } from '../http/server.ts'
import { isRunning, Many, start } from './start.ts'

/** A file that exists until the test is over or it is removed. */
function brokenFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-workers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'broken')
}

test('listen answers in the parent when all processes listen, and in each of them with its number', async () => {
  const many = await start({ workers: 3, more: true })
  expect(
    many
      .at('worker')
      .map(({ worker }) => worker)
      .toSorted((one, two) => one - two),
  ).toEqual([1, 2, 3])
  expect(new Set(many.pids).size).toBe(3)
  expect(many.pids).not.toContain(many.child.pid)
  // onStart runs where requests are served.
  expect(new Set(many.at('started').map(({ pid }) => pid))).toEqual(new Set(many.pids))
  const { addresses } = many.at('parent')[0] as { readonly addresses: Readonly<Record<string, string>> }
  expect(Object.keys(addresses)).toEqual(['http', 'ws', 'tcp'])
  for (const address of Object.values(addresses)) {
    const client = await connect(address)
    expect(many.pids.map(String)).toContain(await client.call('who'))
    await client.close()
  }
})

test('SIGTERM finishes requests, ends all processes, and exits with 0', async () => {
  const many = await start({ workers: 2 })
  const session = await open(many.port)
  await session.post(message('notifications/initialized'))
  const slow = await session.stream(call('slow', { ms: 500 }, 3, { progressToken: 1 }))
  await slow.until(({ messages }) => messages.length === 1)
  many.child.kill('SIGTERM')
  await slow.end()
  expect(slow.messages.at(-1)).toMatchObject({ id: 3, result: {} })
  expect(await many.exit()).toEqual([0, null])
  expect(many.pids.map(isRunning)).toEqual([false, false])
  expect(many.at('stopped')).toHaveLength(2)
})

test('a signal to all processes at once ends them without errors in the log', async () => {
  const many = await start({ workers: 2 })
  for (const pid of many.pids) process.kill(pid, 'SIGTERM')
  // The workers may be heard first: others are then being started when the parent gets its signal.
  await new Promise((resolve) => setTimeout(resolve, 100))
  many.child.kill('SIGTERM')
  expect(await many.exit()).toEqual([0, null])
  expect(many.at('log').filter(({ level }) => level === 'error')).toEqual([])
  expect(many.errors.join('')).toBe('')
  expect(many.pids.map(isRunning)).toEqual([false, false])
})

test('a second signal ends all processes at once', async () => {
  const many = await start({ workers: 2 })
  const session = await open(many.port)
  const slow = await session.stream(call('slow', { ms: 60_000 }, 3, { progressToken: 1 }))
  await slow.until(({ messages }) => messages.length === 1)
  many.child.kill('SIGTERM')
  await expect.poll(() => many.at('stopped').length).toBe(1)
  many.child.kill('SIGTERM')
  expect(await many.exit()).toEqual([143, null])
  await expect.poll(() => many.pids.some(isRunning)).toBe(false)
})

test('a connection on its way to a process that dies is closed, and the others are served', async () => {
  const many = await start({ workers: 2 })
  const [dying = 0, other = 0] = many.pids
  // A process that stands still accepts nothing: Node hands each of them one connection, and keeps the others.
  for (const pid of [dying, other]) process.kill(pid, 'SIGSTOP')
  const body = call('who')
  const head = Object.entries({ ...BOTH, host: `127.0.0.1:${many.port}`, 'content-length': body.length })
  const text = `POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}connection: close\r\n\r\n${body}`
  const sockets = Array.from({ length: 6 }, () => netConnect(many.port, '127.0.0.1'))
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
  const ends = sockets.map(async (socket) => {
    let answer = ''
    socket.on('data', (bytes) => (answer += String(bytes))).on('error', () => undefined)
    await once(socket, 'connect')
    socket.write(text)
    // One that is reset ends with an error, too.
    await new Promise((resolve) => socket.once('close', resolve))
    return answer
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  // The parent accepts them in this time; if not, none is on its way.
  await new Promise((resolve) => setTimeout(resolve, 300))
  process.kill(dying, 'SIGKILL')
  process.kill(other, 'SIGCONT')
  const answers = await Promise.all(ends)
  expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 ')).length).toBeGreaterThanOrEqual(5)
})

test('app.close in the parent ends all processes', async () => {
  const many = await start({ workers: 2 })
  many.command('close')
  expect(await many.exit()).toEqual([0, null])
  expect(many.pids.map(isRunning)).toEqual([false, false])
})

test('when the parent is killed, its processes end', async () => {
  const many = await start({ workers: 2 })
  many.child.kill('SIGKILL')
  await many.exit()
  await expect.poll(() => many.pids.some(isRunning)).toBe(false)
})

test('a process that crashes is reported and replaced, while the others serve', async () => {
  const many = await start({ workers: 2 })
  const [crashed = 0, left] = many.pids
  const session = await open(many.port)
  process.kill(crashed, 'SIGKILL')
  await expect.poll(() => isRunning(crashed)).toBe(false)
  expect((await session.post(call('who'))).text).toContain(String(left))
  await many.until(() => many.pids.length === 3)
  const [report] = many.at('log').filter(({ message: text }) => text.includes('SIGKILL'))
  expect(report).toMatchObject({ level: 'error', pid: many.child.pid })
  expect(report?.message).toMatch(/^worker [12] ended by SIGKILL; the next one starts in \d+ ms$/)
  const pids = new Set<string>()
  for (let round = 0; round < 4; round++) pids.add((await session.post(call('who'))).text)
  expect([...pids].some((text) => text.includes(String(many.pids[2])))).toBe(true)
})

test('a process that cannot read a message of its parent ends, and is replaced', async () => {
  const many = await start({ workers: 2 })
  many.command('garble')
  many.command('updated')
  await many.until(() => many.pids.length === 3)
  const messages = many.at('log').map(({ message: text }) => text)
  expect(messages).toEqual([
    'a message of the parent process cannot be read, so this worker ends',
    expect.stringMatching(/^worker [12] ended with code 1; the next one starts in \d+ ms$/),
  ])
  expect(many.pids.filter(isRunning)).toHaveLength(2)
  const session = await open(many.port)
  expect((await session.post(call('keep'))).status).toBe(200)
})

test('when all processes crash, those that follow use the same port, which the system chose', async () => {
  const many = await start({ workers: 2 })
  const session = await open(many.port)
  for (const pid of many.pids) process.kill(pid, 'SIGKILL')
  await many.until(() => many.pids.length === 4)
  // The parent kept the session.
  expect((await session.post(call('who'))).status).toBe(200)
  process.kill(many.pids[3] as number, 'SIGKILL')
  await many.until(() => many.pids.length === 5)
  for (let round = 0; round < 4; round++) expect((await session.post(call('who'))).status).toBe(200)
})

test('a process that gets SIGTERM is replaced before it ends', async () => {
  const many = await start({ workers: 2, limits: { idleMs: 1000 } })
  const [asked = 0] = many.pids
  process.kill(asked, 'SIGTERM')
  process.kill(asked, 'SIGTERM')
  await many.until(() => many.pids.length === 3)
  await expect.poll(() => isRunning(asked)).toBe(false)
  expect(many.pids).toHaveLength(3)
  expect(many.at('log')).toEqual([])
})

describe('processes that cannot start', () => {
  test('listen fails with the error of a single process if the port is taken', async () => {
    const other = createNetServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const [many, alone] = [new Many({ workers: 2, port }), new Many({ workers: 1, port })]
    expect([await many.exit(), await alone.exit()]).toEqual([
      [7, null],
      [7, null],
    ])
    expect(many.at('failed')).toEqual(alone.at('failed'))
    expect(many.at('failed')).toMatchObject([{ kind: 'bad_option', code: 'EADDRINUSE' }])
    expect(many.errors.join('')).toBe('')
  })

  test('listen fails after five ended in a row', async () => {
    const many = new Many({ workers: 2, exitsWith: 3 })
    expect(await many.exit()).toEqual([7, null])
    const [failed] = many.at('failed')
    expect(failed).toMatchObject({ kind: 'workers_failed' })
    expect(failed?.message).toMatch(/\(5 in a row\): worker [12] ended with code 3 before it was listening$/)
    expect(many.at('log').length).toBeGreaterThanOrEqual(4)
  })

  test('the parent exits with 1 if all crashed and none can start again', async () => {
    const brokenBy = brokenFile()
    const many = await start({ workers: 2, brokenBy })
    writeFileSync(brokenBy, '')
    for (const pid of many.pids) process.kill(pid, 'SIGKILL')
    expect(await many.exit()).toEqual([1, null])
    expect(many.at('log').at(-1)?.message).toMatch(/^worker processes could not start \(5 in a row\)/)
  })

  test('the others go on if one cannot start again', async () => {
    const brokenBy = brokenFile()
    const many = await start({ workers: 2, brokenBy })
    writeFileSync(brokenBy, '')
    process.kill(many.pids[0] as number, 'SIGKILL')
    await many.until(() => many.at('log').length === 7)
    const session = await open(many.port)
    expect((await session.post(call('who'))).text).toContain(String(many.pids[1]))
    rmSync(brokenBy)
  })
})

describe('options', () => {
  const app = createServer({ name: 'many', version: '1', log: () => undefined })
  test.each([
    [{ stdio: true, workers: 2 }, 'stdio belongs to one process'],
    [{ workers: 2 }, 'stdio belongs to one process'],
    [{ unix: '/tmp/many.sock', workers: 2 }, 'a Unix socket belongs to one process'],
    [{ http: true, workers: 0 }, "workers must be a whole number above 0, or 'auto'"],
    [{ http: true, workers: 1.5 }, "workers must be a whole number above 0, or 'auto'"],
    [{ http: true, workers: 'all' }, "workers must be a whole number above 0, or 'auto'"],
  ])('%j is rejected', async (options, reason) => {
    await expect(app.listen(options as never)).rejects.toMatchObject({
      kind: 'bad_option',
      message: expect.stringContaining(reason),
    })
  })

  test('one worker is this process alone, which cannot be restarted', async () => {
    const running = await app.listen({ http: { port: 0 }, workers: 1 })
    expect(running.worker).toBeUndefined()
    await expect(running.restart()).rejects.toMatchObject({ kind: 'bad_option' })
    await app.close()
  })
})
