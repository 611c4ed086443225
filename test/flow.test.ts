import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { createServer, ToolError, type App } from '../src/index.ts'
import { call, initialize, headed, message } from './http/messages.ts'
import { open, start } from './http/server.ts'
import { post, send } from './http/wire.ts'

/** The way from the transport to a tool: files, and in each the functions that are entered. */
const CORE = [
  'server/tools.ts: runHandler, run, perform, callTool',
  'rpc/dispatch.ts: dispatch',
  'rpc/in-flight.ts: run',
]
const ENDPOINT = [...CORE, 'transport/http/server/endpoint.ts: #call, #request, #take, #post, answer']
const CONNECTION = [...CORE, 'transport/io/connection.ts: #answer, #take, receive']
const LINES = [...CONNECTION, 'transport/lines/server.ts: #receive, #takeAll, #take']
const HTTP = [...ENDPOINT, 'transport/http/server/node.ts: answer, answerInTurn, attempt, finish']

test('over HTTP the way to a tool is five files long, each entered once, at 2025-11-25', async () => {
  const { port } = await start(failing())
  const { headers } = await open(port)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  await send(port, { body: message('ping', {}, 3), headers, agent })
  const reply = await send(port, { body: call('fail'), headers, agent })
  expect(wayOf(reply.json)).toEqual(HTTP)
})

test('over HTTP the way to a tool is five files long, each entered once, at 2026-07-28', async () => {
  const { port } = await start(failing())
  const { body, headers } = headed('tools/call', { name: 'fail' })
  expect(wayOf((await post(port, body, headers)).json)).toEqual(HTTP)
})

test('a web request takes the same way', async () => {
  const { body, headers } = headed('tools/call', { name: 'fail' })
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  })
  const reply = await failing().fetch(request)
  expect(wayOf(await reply.json())).toEqual([...ENDPOINT, 'transport/http/server/fetch.ts: '])
})

test('in memory the way to a tool is five files long, each entered once', () => {
  const replies: string[] = []
  const end = failing().connect({ receive: (text) => void replies.push(text) })
  onTestFinished(() => end.close())
  end.send(initialize())
  end.send(call('fail'))
  expect(wayOf(JSON.parse(replies[1] as string))).toEqual([
    ...CONNECTION,
    'transport/memory/server.ts: deliver, send',
  ])
})

test('over stdio the way to a tool is five files long, each entered once', async () => {
  const script = `
    import { createServer, ToolError } from './src/index.ts'
    Error.stackTraceLimit = 50
    const app = createServer({ name: 'flow', version: '1' })
    app.tool('fail', {}, () => { throw new ToolError(String(new Error('here').stack)) })
    await app.listen()`
  const flags = ['--import', 'tsx', '--conditions=pierhead-source', '--input-type=module']
  const child = spawn(process.execPath, [...flags, '-e', script])
  onTestFinished(() => void child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stdin.write(`${initialize()}\n`)
  await lines.next()
  child.stdin.write(`${call('fail')}\n`)
  const { value } = await lines.next()
  expect(wayOf(JSON.parse(value as string))).toEqual(LINES)
})

test('over TCP the way to a tool is the same', async () => {
  const running = await failing().listen({ tcp: { port: 0 } })
  onTestFinished(() => running.close())
  const socket = connect(Number(new URL(running.addresses.tcp as string).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  socket.write(`${initialize()}\n`)
  await lines.next()
  socket.write(`${call('fail')}\n`)
  const { value } = await lines.next()
  expect(wayOf(JSON.parse(value as string))).toEqual(LINES)
})

test('over WebSocket the way to a tool is five files long, each entered once', async () => {
  const running = await failing().listen({ ws: { port: 0 } })
  onTestFinished(() => running.close())
  const socket = new WebSocket(running.addresses.ws as string)
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  const reply = once(socket, 'message')
  socket.send(headed('tools/call', { name: 'fail' }).body)
  const [data] = (await reply) as [Buffer]
  expect(wayOf(JSON.parse(data.toString()))).toEqual([
    ...CONNECTION,
    'transport/ws/peer.ts: #receive, #handle, #take',
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

/** The files of ours on a stack, each with its functions; a file that is entered again is listed again. */
function wayOf(reply: unknown): readonly string[] {
  const [block] = (reply as { result: { content: { text: string }[] } }).result.content
  const way: { readonly file: string; readonly functions: string[] }[] = []
  for (const line of (block as { text: string }).text.split('\n')) {
    const found = /^\s+at (?:async )?(?:(\S+) \()?.*[/\\]src[/\\]([\w./\\-]+?\.ts)[:?]/.exec(line)
    if (found === null) continue
    const [, name = '', path = ''] = found
    const file = path.replaceAll('\\', '/')
    if (way.at(-1)?.file !== file) way.push({ file, functions: [] })
    const own = name.split('.').at(-1) as string
    if (own !== '' && own !== '<anonymous>') way.at(-1)?.functions.push(own)
  }
  return way.map(({ file, functions }) => `${file}: ${functions.join(', ')}`)
}
