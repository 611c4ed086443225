import { spawn } from 'node:child_process'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, ToolError, type App } from '../src/index.ts'
import { call, initialize, headed, message } from './http/messages.ts'
import { open, start } from './http/server.ts'
import { post, send } from './http/wire.ts'

const HTTP = [
  'server/tools.ts',
  'rpc/dispatch.ts',
  'transport/http/server/endpoint.ts',
  'transport/http/server/node.ts',
]

test('over HTTP the way to a tool is four files long, each entered once, at 2025-11-25', async () => {
  const { port } = await start(failing())
  const { headers } = await open(port)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  await send(port, { body: message('ping', {}, 3), headers, agent })
  const reply = await send(port, { body: call('fail'), headers, agent })
  expect(filesOf(reply.json)).toEqual(HTTP)
})

test('over HTTP the way to a tool is four files long, each entered once, at 2026-07-28', async () => {
  const { port } = await start(failing())
  const { body, headers } = headed('tools/call', { name: 'fail' })
  expect(filesOf((await post(port, body, headers)).json)).toEqual(HTTP)
})

test('in memory the way to a tool is four files long, each entered once', () => {
  const replies: string[] = []
  const end = failing().connect({ receive: (text) => void replies.push(text) })
  onTestFinished(() => end.close())
  end.send(initialize())
  end.send(call('fail'))
  expect(filesOf(JSON.parse(replies[1] as string))).toEqual([
    'server/tools.ts',
    'rpc/dispatch.ts',
    'transport/io/connection.ts',
    'transport/memory/server.ts',
  ])
})

test('over stdio the way to a tool is four files long, each entered once', async () => {
  const script = `
    import { createServer, ToolError } from './src/index.ts'
    Error.stackTraceLimit = 50
    const app = createServer({ name: 'flow', version: '1' })
    app.tool('fail', {}, () => { throw new ToolError(String(new Error('here').stack)) })
    await app.listen()`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])
  onTestFinished(() => void child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stdin.write(`${initialize()}\n${call('fail')}\n`)
  await lines.next()
  const { value } = await lines.next()
  expect(filesOf(JSON.parse(value as string))).toEqual([
    'server/tools.ts',
    'rpc/dispatch.ts',
    'transport/io/connection.ts',
    'transport/lines/server.ts',
  ])
})

test('over TCP the way to a tool is the same', async () => {
  const running = await failing().listen({ tcp: { port: 0 } })
  onTestFinished(() => running.close())
  const socket = connect(Number(new URL(running.addresses.tcp as string).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  socket.write(`${initialize()}\n${call('fail')}\n`)
  await lines.next()
  const { value } = await lines.next()
  expect(filesOf(JSON.parse(value as string))).toEqual([
    'server/tools.ts',
    'rpc/dispatch.ts',
    'transport/io/connection.ts',
    'transport/lines/server.ts',
  ])
})

/** The stack limit hides the end of a long way. */
function failing(): App {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 50
  onTestFinished(() => void (Error.stackTraceLimit = before))
  return createServer({ name: 'flow', version: '1' }).tool('fail', {}, () => {
    throw new ToolError(String(new Error('here').stack))
  })
}

/** The files of ours that a stack passes through; a file that is entered again is listed again. */
function filesOf(reply: unknown): readonly string[] {
  const [block] = (reply as { result: { content: { text: string }[] } }).result.content
  const files = [...(block as { text: string }).text.matchAll(/[/\\]src[/\\]([\w./\\-]+?\.ts)[:?]/g)].map(
    ([, file]) => (file as string).replaceAll('\\', '/'),
  )
  return files.filter((file, at) => file !== files[at - 1])
}
