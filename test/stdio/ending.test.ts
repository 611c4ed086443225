import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { META } from '../../src/protocol/meta.ts'
import { call, headed, initialize, message } from '../http/messages.ts'
import { send } from '../http/wire.ts'
import { Child, opened, SERVER } from './child.ts'

test('L.eof the end of input ends the server, with code 0 [R064] [S3-4.4-1] [S4-5-9]', async () => {
  const child = await opened()
  child.process.stdin.end()
  expect(await child.exited).toBe(0)
  expect(child.messages.map(({ id }) => id)).toEqual([1])
  expect(child.rest).toBe('')
})

test('L.eof-empty even before the first message [R064]', async () => {
  const child = new Child()
  child.process.stdin.end()
  expect(await child.exited).toBe(0)
  expect(child.lines).toEqual([])
})

test('a server that also listens elsewhere goes on if its input was closed from the start, as in a service or container', async () => {
  const child = new Child(['beside'])
  child.process.stdin.end()
  await child.until(({ stderr }) => stderr.includes('listening'))
  const port = Number(/at http:\/\/127\.0\.0\.1:(\d+)/.exec(child.stderr)?.[1])
  const { body, headers } = headed('tools/call', { name: 'slow', arguments: { count: 1000 } })
  expect((await send(port, { body, headers })).json).toMatchObject({
    result: { content: [{ text: 'slow' }] },
  })
  child.process.kill('SIGTERM')
  expect(await child.exited).toBe(0)
})

test('a server that also listens elsewhere ends with its client on stdio', async () => {
  const child = await opened(['beside'])
  child.process.stdin.end()
  expect(await child.exited).toBe(0)
})

test.each(['closing', 'app-closing'])(
  'a program that closes its server on stdio (%s) goes on, other servers too, and ends by itself with its own code',
  async (flag) => {
    const child = new Child([flag])
    expect(await child.exited).toBe(4)
    expect(child.stderr).toMatch(/^closed, .*other/m)
    expect(child.process.stdin.writableEnded).toBe(false)
  },
)

test.each([
  ['end of input', (child: Child) => void child.process.stdin.end()],
  ['signal', (child: Child) => void child.process.kill('SIGTERM')],
])('at the %s, a server ends with the code that the program has set', async (_, end) => {
  const child = await opened(['coded'])
  await child.until(({ stderr }) => stderr.includes('listening'))
  end(child)
  expect(await child.exited).toBe(4)
})

test('L.eof-busy running requests are answered first [R064] [S4-5-9]', async () => {
  const child = await opened()
  child.send(call('slow', { count: 400 }, 5), call('echo', { text: 'x'.repeat(1_000_000) }, 6))
  child.process.stdin.end()
  expect(await child.exited).toBe(0)
  expect(new Set(child.messages.map(({ id }) => id))).toEqual(new Set([1, 5, 6]))
})

test('L.eof-last a last line without a line break counts', async () => {
  const child = await opened()
  child.write(message('ping', {}, 7))
  child.process.stdin.end()
  expect(await child.exited).toBe(0)
  expect(child.messages[1]).toMatchObject({ id: 7, result: {} })
})

test('L.eof-mid it also exits in the middle of a message', async () => {
  const child = await opened()
  child.write(message('ping', {}, 7).slice(0, 20))
  child.process.stdin.end()
  expect(await child.exited).toBe(0)
  expect(child.messages[1]).toMatchObject({ error: { code: -32700 } })
})

test('L.eof-asking a request to the client that can no longer be answered fails, and the tool call is answered', async () => {
  const child = await opened([], { elicitation: {} })
  child.send(call('ask', {}, 5))
  await child.until(({ lines }) => lines.length === 2)
  child.process.stdin.end()
  expect(await child.exited).toBe(0)
  expect(child.messages.at(-1)).toMatchObject({ id: 5, result: { isError: true } })
})

test('L.eof-hang a tool that never ends does not keep the server alive [R064] [F21]', async () => {
  const child = await opened()
  child.send(call('hang', {}, 5))
  child.process.stdin.end()
  expect(await child.exited).toBe(0)
})

test('L.sigterm running requests are answered, new ones rejected, subscriptions ended, code 0 [R230] [S2-8.5-6]', async () => {
  const child = await opened()
  child.send(
    headed('subscriptions/listen', { notifications: { toolsListChanged: true } }, 4).body,
    call('slow', { count: 600 }, 5),
  )
  await child.count(2)
  child.process.kill('SIGTERM')
  expect(await child.reply(4)).toMatchObject({ result: { _meta: { [META.subscriptionId]: 4 } } })
  child.send(message('ping', {}, 6))
  expect(await child.reply(6)).toMatchObject({ error: { data: { refusal: { code: 1077 } } } })
  expect(await child.exited).toBe(0)
  expect(child.messages.at(-1)).toMatchObject({ id: 5, result: { content: [{ text: 'slow' }] } })
})

test('L.sigterm-twice a second signal forces the end', async () => {
  const child = await opened()
  child.send(call('hang', {}, 5), message('ping', {}, 6))
  await child.reply(6)
  child.process.kill('SIGTERM')
  let id = 6
  await expect
    .poll(() => child.send(message('ping', {}, ++id)).reply(id))
    .toMatchObject({ error: { data: { refusal: { code: 1077 } } } })
  child.process.kill('SIGTERM')
  expect(await child.exited).toBe(143)
})

test('L.epipe a reader that is gone ends the server quietly, even with work to do [F21]', async () => {
  const child = await opened()
  child.process.stdout.destroy()
  child.process.stderr.destroy()
  child.send(
    call('hang', {}, 4),
    call('shout', {}, 5),
    ...Array.from({ length: 50 }, (_, at) => call('echo', { text: 'x' }, at + 10)),
  )
  expect(await child.exited).toBe(0)
})

/** Whether a process runs; one that ended and that nobody asked about yet does not. */
function isAlive(pid: number): boolean {
  try {
    return !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

test.each([
  ['and its pipes close', "['pipe', 'pipe', 'inherit']"],
  ['though the pipes stay open', "'inherit'"],
])('L.parent when the process that started it is killed %s, the server ends [F21]', async (_, stdio) => {
  const script = `
    const { spawn } = require('node:child_process')
    const child = spawn(process.execPath, [${JSON.stringify(SERVER)}], { stdio: ${stdio} })
    if (child.stdin) child.stdin.write(${JSON.stringify(`${initialize()}\n`)})
    process.send(child.pid)
    setInterval(() => undefined, 1000)`
  const parent = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'pipe', 'ipc'] })
  onTestFinished(() => void parent.kill('SIGKILL'))
  let said = ''
  parent.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
  const pid = await new Promise<number>((resolve) =>
    parent.once('message', (sent) => resolve(sent as number)),
  )
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')))
  await expect.poll(() => said).toContain('listening')
  expect(isAlive(pid)).toBe(true)
  parent.kill('SIGKILL')
  await expect.poll(() => isAlive(pid)).toBe(false)
})
