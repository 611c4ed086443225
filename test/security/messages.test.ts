import { expect } from 'vitest'
import { scenario } from '../harness/scenario.ts'
import { expectAlive, expectRefused, note, sound, target, type Refusal } from './target.ts'

const PARSE = -32700
const INVALID = -32600
const UNKNOWN = -32601
const PARAMS = -32602

const attacked = target()
const { app } = attacked

scenario(
  'M.truncated M.garbage M.json5 M.nan M.trailing M.code-parse text that is not JSON is refused and runs nothing [R009] [S4-2-1]',
  app,
  async (client, _revision, { transport }) => {
    const before = attacked.ran
    const good = sound(client)
    // On sockets, an HTTP request line ends the connection.
    const isSocket = ['tcp', 'tls', 'unix'].includes(transport)
    const texts = [
      good.slice(0, -1),
      good.slice(0, good.length / 2),
      good.slice(1),
      'hello',
      isSocket ? 'GET /' : 'GET / HTTP/1.1',
      '\u0000\u0000',
      good.replaceAll('"', "'"),
      good.replace('"jsonrpc"', 'jsonrpc'),
      good.replace('}', ',}'),
      `/* */${good}`,
      good.replace('"x"', 'NaN'),
      good.replace('"x"', '-Infinity'),
      good.replace('"spoilt"', 'NaN'),
      good.replace('"x"', '0x10'),
      good.replace('"x"', '"\u0001"'),
      `${good} x`,
      `${good}]`,
      `${good}${good}`,
      `\u00a0${good}`,
    ]
    for (const text of texts) await expectRefused(client, text, PARSE)
    expect(attacked.ran).toBe(before)
    await expectAlive(client)
  },
)

scenario(
  'M.scalar-number M.scalar-null M.scalar-string M.scalar-boolean M.empty-array M.empty-object M.array-of-junk M.code-invalid what is no message is refused [R010]',
  app,
  async (client) => {
    for (const text of ['5', '-0.0', 'null', '"tools/call"', 'true', '[]', '{}']) {
      await expectRefused(client, text, INVALID)
    }
    for (const text of ['[1,2,3]', '[null]', '[[]]', '[{}]', '[[[]],"x"]']) {
      const reply = (await client.post(text)) as Refusal | readonly Refusal[]
      for (const one of [reply].flat() as readonly Refusal[])
        expect([text, one.error.code]).toEqual([text, INVALID])
    }
    await expectAlive(client)
  },
)

scenario(
  'M.no-version M.version-old M.version-number M.upper-keys M.mixed-keys M.both-kinds M.dup-method M.dup-arg a message that two readers could read differently is refused and runs nothing [R010]',
  app,
  async (client) => {
    const before = attacked.ran
    const good = sound(client)
    const spoilt = [
      good.replace('"jsonrpc":"2.0",', ''),
      good.replace('"2.0"', '"1.0"'),
      good.replace('"2.0"', '2.0'),
      good.replace('"2.0"', '["2.0"]'),
      good.replace('"jsonrpc"', '"JSONRPC"').replace('"method"', '"METHOD"').replace('"id"', '"ID"'),
      good.replace('"method"', '"Method"'),
      good.replace('"params"', '"PARAMS"'),
      `${good.slice(0, -1)},"Method":"ping"}`,
      `${good.slice(0, -1)},"result":{}}`,
      `${good.slice(0, -1)},"error":{"code":1,"message":"x"}}`,
      `${good.slice(0, -1)},"method":"ping"}`,
      `${good.slice(0, -1)},"\\u006dethod":"ping"}`,
      `${good.slice(0, -1)},"params":{}}`,
      `${good.slice(0, -1)},"id":2}`,
      good.replace('"text":"x"', '"text":"x","text":"y"'),
      good.replace('"text":"x"', '"text":"x","te\\u0078t":"y"'),
      good.replace('"name":"echo"', '"name":"any","name":"echo"'),
    ]
    for (const text of spoilt) await expectRefused(client, text, INVALID)
    expect(attacked.ran).toBe(before)
    await expectAlive(client)
  },
)

scenario(
  'M.id-null M.id-object M.id-array M.id-boolean M.id-fraction M.id-overflow an id that is none is refused, and never echoed [R002]',
  app,
  async (client) => {
    const before = attacked.ran
    for (const id of ['null', '{}', '[1]', 'true', '1.5', '1e400', '-1e400', '9007199254740993.0', '1e-7']) {
      const reply = await expectRefused(client, sound(client).replace('"spoilt"', id), INVALID)
      expect(reply).not.toHaveProperty('id')
    }
    await expectRefused(client, sound(client).replace('"spoilt"', '9'.repeat(1_000_000)), INVALID)
    expect(attacked.ran).toBe(before)
    await expectAlive(client)
  },
)

scenario(
  'M.id-2p53 M.id-string M.id-empty M.id-zero M.id-proto M.id-64k M.id-breaks M.id-minus an id is answered as exactly that id [R002] [R005]',
  app,
  async (client) => {
    const ids = [
      '7',
      '',
      '__proto__',
      'constructor',
      'x'.repeat(65_536),
      'a\r\n\r\ndata: {}\n\nid: 1\u2028',
      '"]}',
    ]
    for (const id of [...ids, 0, -1, 9007199254740993n, -9007199254740993n]) {
      expect(await client.call('echo', { text: 'x' }, { id })).toMatchObject({ content: [{ text: 'x' }] })
    }
  },
)

scenario(
  'M.method-number M.method-null M.method-object M.method-empty M.method-unknown M.method-case M.method-proto M.method-constructor M.method-tostring M.method-hasown M.code-method a method that is none is refused [R011]',
  app,
  async (client) => {
    const before = attacked.ran
    const named = (method: string): string => sound(client).replace('"tools/call"', method)
    for (const method of ['5', 'null', '{}', '["tools/call"]', 'true', '""']) {
      await expectRefused(client, named(method), INVALID)
    }
    const unknown = [
      'nope',
      'Tools/Call',
      'TOOLS/CALL',
      'tools/call/',
      '/tools/call',
      'tools//call',
      'tools.call',
    ]
    const inherited = [
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'valueOf',
      'notifications/initialized',
    ]
    for (const method of [...unknown, ...inherited]) {
      const { error, id } = await expectRefused(client, named(JSON.stringify(method)), UNKNOWN)
      expect([id, error.message]).toEqual(['spoilt', expect.stringContaining(method)])
    }
    expect(attacked.ran).toBe(before)
    await expectAlive(client)
  },
)

scenario(
  'M.params-array M.params-string M.params-number M.meta-string M.code-params params that are none are refused [R012]',
  app,
  async (client) => {
    const before = attacked.ran
    for (const params of [
      '["echo"]',
      '"echo"',
      '5',
      'false',
      '{"_meta":"x"}',
      '{"_meta":null}',
      '{"_meta":[]}',
    ]) {
      const text = `{"jsonrpc":"2.0","id":"spoilt","method":"tools/call","params":${params}}`
      await expectRefused(client, text, PARAMS)
    }
    expect(attacked.ran).toBe(before)
    await expectAlive(client)
  },
)

scenario(
  'M.note-unknown M.note-request M.response-forged M.cancel-unknown M.cancel-malformed M.progress-unknown what expects no answer gets none and does nothing [R008]',
  app,
  async (client) => {
    const before = attacked.ran
    const heard = client.transcript.length
    await client.put(note('notifications/unknown', { a: 1 }))
    await client.put(note('__proto__', {}))
    await client.put(sound(client).replace('"id":"spoilt",', ''))
    for (const params of [
      {},
      { requestId: null },
      { requestId: {} },
      { requestId: 99 },
      { requestId: '__proto__' },
    ]) {
      await client.put(note('notifications/cancelled', params))
    }
    for (const progressToken of [1, 'none', '__proto__', null, {}]) {
      await client.put(note('notifications/progress', { progressToken, progress: 1 }))
    }
    await client.settle()
    expect(client.transcript.slice(heard).filter(({ from }) => from === 'server')).toHaveLength(1)
    for (const id of ['1', '"1"', '0', '"__proto__"', '99999999999999999999']) {
      await client.put(`{"jsonrpc":"2.0","id":${id},"result":{}}`)
      await client.put(`{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"x"}}`)
    }
    await expectAlive(client)
    expect(attacked.ran).toBe(before + 1)
    const replies = client.transcript.slice(heard).filter(({ from }) => from === 'server')
    // Over HTTP a response that nobody asked for may be refused; nothing else may come back.
    const refusals = replies.filter(({ text }) => text.includes('"error"') && !text.includes('"id"'))
    expect(replies).toHaveLength(2 + refusals.length)
  },
)

scenario(
  'M.task-unknown there are no tasks: every id of one is refused alike [R011]',
  app,
  async (client) => {
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/result', 'tasks/list', 'tasks/update']) {
      const replies = new Set<string>()
      for (const taskId of ['1', '__proto__', '786af6b0-2779-48ed-9cc0-a8f5dca3b1f5', 5, undefined]) {
        const text = client.requestText('spoilt', method, taskId === undefined ? {} : { taskId })
        const { error } = await expectRefused(client, text, UNKNOWN)
        replies.add(error.message)
      }
      expect(replies).toHaveLength(1)
    }
  },
)
