import { connect as dial } from 'node:net'
import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, McpError, type App } from '../../src/index.ts'
import { official } from '../../src/profiles.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { RefusalName } from '../../src/protocol/refusals.ts'
import { BOTH, call, headed, initialize, message } from './messages.ts'
import { Gate, open, start } from './server.ts'
import { post, type Received } from './wire.ts'

const INPUT = {
  type: 'object',
  properties: { count: { type: 'integer', maximum: 9 } },
  required: ['count'],
} as const

function make(): App {
  return createServer({
    name: 'refuses',
    version: '1',
    log: () => undefined,
    profile: official.with({ versionMismatch: 'reject', argumentErrors: 'error' }),
  })
    .tool('count', { input: INPUT }, ({ count }) => count)
    .tool(
      'late',
      { timeout: 10 },
      (_, { signal }) => new Promise((done) => signal.addEventListener('abort', done)),
    )
    .tool('throw', { input: { type: 'object' } }, (input) => {
      const refusal = (input as { refusal?: RefusalName }).refusal
      throw new McpError('internal', 'on purpose', refusal === undefined ? {} : { refusal })
    })
    .resource('note://{+name}', {}, () => 'a note')
    .prompt('greet', {}, () => 'hello')
}

/** The status of a reply, the code of its error, and the refusal that it carries. */
function shown({ status, json }: Received): readonly unknown[] {
  const { error, result } = json as { error?: JsonObject; result?: JsonObject }
  const { refusal } = (error?.['data'] ?? {}) as { refusal?: JsonObject }
  const { 'dev.pierhead/refusal': told } = (result?.['_meta'] ?? {}) as Record<string, JsonObject>
  return [status, error?.['code'], (refusal ?? told)?.['code'], (refusal ?? told)?.['name']]
}

test('validation is refused with 1021 to 1029, beside the official code [S2-8.3-5]', async () => {
  const { port } = await start(make())
  const session = await open(port)
  const uri = `note://${'n'.repeat(9000)}`
  expect(shown(await session.post(call('count', { count: 10 })))).toEqual([
    200,
    -32602,
    1021,
    'INVALID_PARAMS',
  ])
  expect(shown(await session.post(message('resources/read', { uri }, 2)))).toEqual([
    200,
    -32602,
    1023,
    'INVALID_URI',
  ])
  const text = { ...BOTH, 'content-type': 'text/plain' }
  expect(shown(await post(port, initialize(), text))).toEqual([415, -32600, 1024, 'INVALID_CONTENT_TYPE'])
  const { body, headers } = headed('tools/call', { name: 'count', arguments: { count: 1 } })
  const other = { ...headers, 'mcp-name': 'other' }
  expect(shown(await post(port, body, other))).toEqual([400, -32020, 1025, 'INVALID_HEADER'])
  expect(shown(await post(port, message('ping', {}, 1), BOTH))).toEqual([
    400,
    -32600,
    1026,
    'INVALID_SESSION_ID',
  ])
  expect(shown(await post(port, initialize('1999-01-01'), BOTH))).toEqual([
    200,
    -32602,
    1027,
    'INVALID_PROTOCOL_VERSION',
  ])
  expect(shown(await session.post(call('count', {})))).toEqual([200, -32602, 1028, 'MISSING_REQUIRED_FIELD'])
  expect(shown(await session.post(call('count', { count: 'x' })))).toEqual([
    200,
    -32602,
    1029,
    'FIELD_TYPE_MISMATCH',
  ])
})

test('what does not exist is refused with 1046, 1048 and 1050 [S2-8.3-7]', async () => {
  const { port } = await start(make())
  const session = await open(port)
  const asked = [
    [message('resources/read', { uri: 'none://x' }, 2), [200, -32002, 1046, 'RESOURCE_NOT_FOUND']],
    [call('none'), [200, -32602, 1048, 'TOOL_NOT_FOUND']],
    [message('prompts/get', { name: 'none' }, 2), [200, -32602, 1050, 'PROMPT_NOT_FOUND']],
  ] as const
  for (const [text, told] of asked) expect(shown(await session.post(text))).toEqual(told)
})

test('the protocol and the transport are refused with 1066 to 1070 [S2-8.3-9]', async () => {
  const { port } = await start(make(), { limits: { httpBytes: 1000 } })
  const session = await open(port)
  expect(shown(await session.post('{'))).toEqual([400, -32700, 1066, 'PROTOCOL_ERROR'])
  expect(shown(await session.post(call('x'.repeat(1000))))).toEqual([413, -32600, 1068, 'MESSAGE_TOO_LARGE'])
  expect(shown(await session.post(call('late')))).toEqual([200, undefined, 1069, 'TIMEOUT'])
  const packed = { ...BOTH, 'content-encoding': 'gzip' }
  expect(shown(await post(port, initialize(), packed))).toEqual([415, -32600, 1070, 'UNSUPPORTED_ENCODING'])
  // Nobody can say over a connection that it is lost: the client says so itself.
  await expect(connect(`http://127.0.0.1:${await unused()}/mcp`)).rejects.toMatchObject({
    refusal: 'TRANSPORT_ERROR',
  })
})

test('refusals 1076 to 1080 report the state of the server [S2-8.3-10]', async () => {
  const app = make()
  const gate = new Gate()
  app.tool('wait', {}, async () => {
    gate.enter()
    await gate.opened
    return 'finished'
  })
  const early: JsonObject[] = []
  const end = app.connect({ receive: (text) => void early.push(JSON.parse(text) as JsonObject) })
  end.send(message('tools/list', {}, 1))
  await expect.poll(() => early).toHaveLength(1)
  expect(early[0]).toMatchObject({
    error: { code: -32600, data: { refusal: { code: 1076, name: 'SERVER_UNINITIALIZED' } } },
  })
  end.close()
  const { port, server } = await start(app)
  const session = await open(port)
  expect(shown(await session.post(call('throw')))).toEqual([200, -32603, 1079, 'INTERNAL_ERROR'])
  // What a tool depends on, only its author knows.
  for (const [code, refusal] of [
    [1078, 'SERVICE_UNAVAILABLE'],
    [1080, 'DEPENDENCY_UNAVAILABLE'],
  ] as const)
    expect(shown(await session.post(call('throw', { refusal })))).toEqual([200, -32603, code, refusal])
  const running = session.post(call('wait'))
  await gate.entered
  const closed = server.close()
  expect(shown(await session.post(message('ping', {}, 9)))).toMatchObject([
    503,
    expect.any(Number),
    1077,
    'SERVER_SHUTTING_DOWN',
  ])
  gate.open()
  await running
  await closed
})

/** A port on which nobody listens. */
async function unused(): Promise<number> {
  const { port, server } = await start(make())
  await server.close()
  await new Promise((resolve) => dial({ port, host: '127.0.0.1' }).once('error', resolve))
  return port
}

test('a request whose params are none is the mistake of its client: 400, like every malformed message', async () => {
  const { port } = await start(make())
  const session = await open(port)
  const modern = headed('tools/list').headers
  for (const params of ['[]', '"x"', '5', '{"_meta":1}', '{"_meta":[]}']) {
    const text = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${params}}`
    const replies = [await session.post(text), await post(port, text, BOTH), await post(port, text, modern)]
    for (const { status, json } of replies)
      expect([params, status, json]).toMatchObject([params, 400, { id: 1, error: { code: -32602 } }])
  }
})
