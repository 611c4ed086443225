import { afterEach, expect, test } from 'vitest'
import { toLimits } from '../../src/base/limits.ts'
import { isAlive } from './alive.ts'
import { kindOf, open, program, until, type Launch, type Opened } from './open.ts'

let child: Opened

async function start(options: Launch = {}): Promise<Opened> {
  child = await open(options)
  return child
}

const script = (code: string): Launch => ({ args: ['-e', code] })

afterEach(() => child.line.close())

test('a server that fails at its start says why in the error of the first request', async () => {
  const code = 'console.error("\\u001b[31mconfig.json is missing\\u001b[0m"); process.exitCode = 3'
  const { call, down } = await start(script(code))
  const error = await call('initialize').catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    kind: 'connect_failed',
    message: expect.stringMatching(
      /initialize was not answered: .*the server exited with code 3; .*\n {2}config\.json is missing$/s,
    ),
    data: { exitCode: 3, signal: null, stderr: ['config.json is missing'] },
    retryable: false,
    hint: expect.stringMatching(/Correct what the program says/),
  })
  expect(await down).toMatchObject({ kind: 'connect_failed' })
})

test('a server that ends without a word will again, and one that is killed may not', async () => {
  const silent = await start(script('process.exitCode = 3'))
  const hint: unknown = expect.stringMatching(/^Run the command in a terminal/)
  expect(await silent.down).toMatchObject({ kind: 'connect_failed', retryable: false, hint })
  await silent.line.close()
  const killed = await start(script('process.kill(process.pid, "SIGKILL")'))
  expect(await killed.down).toMatchObject({ kind: 'connect_failed', retryable: true, hint })
})

test('an uncaught error of the server is shown with a bounded part of what it wrote', async () => {
  const { down } = await start(script('console.error("z".repeat(20_000)); throw new Error("no database")'))
  const { message } = await down
  expect(message).toContain('no database')
  expect(message.length).toBeLessThan(5000)
})

test('when a server dies, 200 requests in flight are rejected', async () => {
  const { call, result, down } = await start()
  await result('first')
  const waiting = Array.from({ length: 200 }, () => call('silence'))
  const outcomes = Promise.allSettled(waiting)
  call('die').catch(() => undefined)
  const reasons = (await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason as object)
  expect(reasons).toHaveLength(200)
  for (const reason of reasons) expect(reason).toMatchObject({ kind: 'stream_lost' })
  expect(await down).toMatchObject({
    message: expect.stringMatching(/^the server ".*" was killed by SIGKILL$/),
    data: { exitCode: null, signal: 'SIGKILL' },
  })
})

test('after the connection broke, requests and messages are rejected with the reason, which is reported once', async () => {
  const { call, line, down, downs } = await start()
  await expect(call('exit', { code: 7 })).rejects.toThrow('exited with code 7')
  await down
  await expect(call('more')).rejects.toThrow('exited with code 7')
  await expect(line.send('{}')).rejects.toThrow('exited with code 7')
  await line.close()
  expect(downs).toHaveLength(1)
})

test('messages that a server sent before it died are still delivered', async () => {
  const code =
    'process.stdin.once("data", () => { process.stdout.write("{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":{}}"); process.exitCode = 1; process.stdin.destroy() })'
  const { call, down } = await start(script(code))
  const answer = call('last')
  expect(await down).toMatchObject({ kind: 'stream_lost' })
  expect(await answer).toMatchObject({ id: 1, result: {} })
})

test('a server that closes its input is of no use any more, and writing to it never throws', async () => {
  const close = 'exec 0<&-; echo "{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"$$\\"}"; exec sleep 300'
  const { call, line, messages, down } = await start({ command: 'sh', args: ['-c', close] })
  await until(() => messages.length === 1)
  const asked = kindOf(call('x'))
  await expect(line.send('{}')).rejects.toMatchObject({ kind: 'stream_lost', cause: { code: 'EPIPE' } })
  expect((await down).message).toMatch(/closed its input$/)
  expect(await asked).toBe('stream_lost')
  await line.close()
  expect(isAlive(messages[0]?.method)).toBe(false)
})

test('a server that closes its output is of no use any more', async () => {
  const { call, down } = await start({ command: 'sh', args: ['-c', 'exec 1>&-; exec sleep 300'] })
  const asked = kindOf(call('x'))
  expect((await down).message).toMatch(/closed its output$/)
  expect(await asked).toBe('connect_failed')
})

test('what a dead server left running is ended too', async () => {
  const { call, result, down } = await start()
  const { pid } = await result('background')
  expect(isAlive(pid)).toBe(true)
  call('exit', { code: 1 }).catch(() => undefined)
  await down
  await until(() => !isAlive(pid))
})

test('a server that never reads holds a bounded amount of memory and can be closed', async () => {
  const limits = toLimits({ clientBytes: 1_000_000 })
  const { call, line } = await start({ ...script('setInterval(() => {}, 1000)'), limits, closeMs: 50 })
  const outcomes: Promise<unknown>[] = []
  const text = 'x'.repeat(50_000)
  for (let count = 0; count < 200; count++) {
    outcomes.push(call('blocked', { text }).catch((error: unknown) => (error as { kind: string }).kind))
    await new Promise(setImmediate)
  }
  const sent = kindOf(line.send('{"jsonrpc":"2.0","method":"x"}'))
  await line.close()
  expect(await sent).toBe('overloaded')
  const kinds = await Promise.all(outcomes)
  expect(kinds.filter((kind) => kind === 'overloaded').length).toBeGreaterThan(150)
  expect(new Set(kinds)).toEqual(new Set(['overloaded', 'closed']))
})

test('a gigabyte on stderr takes no memory and hides no answer', async () => {
  const { call, notes } = await start({ args: [program('flood.mjs'), 'stderr', '1024', 'lines'] })
  const before = process.memoryUsage.rss()
  expect(await call('go')).toMatchObject({ result: { done: true } })
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 2 ** 20)
  expect(notes.length).toBeLessThan(50_000)
  await child.line.close()
  await until(() => notes.some((note) => /^stderr: \(\d+ bytes were omitted\)$/.test(note)))
})

test('a line of a gigabyte takes no memory and fails its request', async () => {
  const { call } = await start({ args: [program('flood.mjs'), 'stdout', '1024', 'line'] })
  const before = process.memoryUsage.rss()
  await expect(call('go')).rejects.toMatchObject({ kind: 'answer_too_large' })
  await child.line.close()
  expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 2 ** 20)
})
