import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Choices } from '../../src/protocol/choices.ts'
import type { ClientSwitch } from './client-scripts.ts'

/** Answers a question of the server, if there is one. */
export interface Answer {
  readonly answer: string
  readonly result: JsonObject
}

/** What a client sends, in order: a message, a batch, a text as it is, or the answer to a question. */
export type Step = JsonObject | readonly unknown[] | string | Answer

let ids = 0

function ask(method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: ++ids, method, ...(params === undefined ? {} : { params }) }
}

function call(name: string, args: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return ask('tools/call', { name, arguments: args, ...more })
}

function note(method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }
}

function open(capabilities: JsonObject = {}, protocolVersion = '2025-11-25'): JsonObject {
  const clientInfo = { name: 'transcript', version: '1' }
  return ask('initialize', { protocolVersion, capabilities, clientInfo })
}

const MODEL = { role: 'assistant', content: { type: 'text', text: 'Yes.' }, model: 'm' }
const declared = (id: string): JsonObject => ({ experimental: { [id]: {} } })

type Scripted = Exclude<keyof Choices, ClientSwitch>

/** For each switch of a server an exchange that differs between its values. */
export const SCRIPTS: Readonly<Record<Scripted, readonly Step[]>> = {
  batch: [
    open(),
    [ask('ping'), note('notifications/roots/list_changed'), call('add', { a: 1, b: 2 }), 5, call('missing')],
    [],
    [note('notifications/roots/list_changed')],
  ],
  argumentErrors: [open(), call('add', { a: 'one' })],
  versionMismatch: [open({}, '1999-12-31')],
  earlyPing: [ask('ping'), open()],
  toolFailures: [open(), call('fail'), call('break'), call('refuse')],
  nullIdErrors: ['{"jsonrpc": "2.0", "id": 1', open()],
  resourceRefs: [
    open(),
    ask('completion/complete', {
      ref: { type: 'ref/resource', name: 'cities' },
      argument: { name: 'city', value: 'B' },
    }),
  ],
  systemRole: [open(), ask('prompts/get', { name: 'ruled' })],
  temperature: [open({ sampling: {} }), call('imagine'), { answer: 'sampling/createMessage', result: MODEL }],
  strictShapes: [open(), ask('tools/call', { name: 'none' })],
  strictMime: [
    open(),
    ask('resources/read', { uri: 'odd://type' }),
    ask('resources/read', { uri: 'bytes://few' }),
  ],
  jsonrpcLoose: [
    open(declared('com.example/sums')),
    { jsonrpc: '2.0', id: 'sum', method: 'com.example/sums/add', params: [1, 2, 3] } as JsonObject,
    { jsonrpc: '2.0', id: 'call', method: 'tools/call', params: ['add'] } as JsonObject,
  ],
  extensions: [open(), ask('dev.pierhead/apps/list')],
  extensionNames: [open(declared('dev.pierhead/apps')), ask('apps/list'), ask('dev.pierhead/apps/list')],
  notificationNames: [
    open(),
    note('notifications/initialized'),
    call('count', {}, { _meta: { progressToken: 'far' } }),
    note('roots/list_changed'),
    note('notifications/roots/list_changed'),
  ],
  initializedFrom: [open(), note('notifications/initialized'), ask('ping')],
  errorNumbers: [
    open(),
    call('missing'),
    ask('resources/read', { uri: 'missing://resource' }),
    ask('prompts/get', { name: 'missing' }),
    ask('tools/list', { cursor: 'x' }),
    ask('initialize', {}),
    ask('ping/pong'),
  ],
  refusalCodes: [open(), ask('tools/call', { name: 3 }), call('missing'), '{', ask('ping/pong')],
  httpStatusFromRefusal: [open(), call('missing'), ask('tools/call', { name: 3 }), ask('ping/pong')],
  binaryContents: [open(), ask('resources/read', { uri: 'bytes://few' })],
  completionShape: [
    open(),
    ask('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'whom', value: '' },
    }),
  ],
  annotations: [open(), ask('resources/list')],
  serverCapabilities: [open()],
  samplingFields: [
    open({ sampling: {} }),
    call('judge'),
    { answer: 'sampling/createMessage', result: { ...MODEL, stopReason: 'end_turn' } },
  ],
  progressTokens: [open(), call('count', {}, { progressToken: 'near' })],
  toolExecute: [open(), ask('tool/execute', { name: 'add', arguments: { a: 1 } })],
  requestsCancel: [
    open(),
    { jsonrpc: '2.0', id: 'long', method: 'tools/call', params: { name: 'wait' } },
    ask('requests/cancel', { requestId: 'long' }),
    note('notifications/cancelled', { requestId: 'long' }),
  ],
  shutdown: [open(), ask('shutdown'), ask('ping')],
  progressErrors: [open(), call('count', {}, { _meta: { progressToken: {} } })],
  receivedValues: [open({}, '2025-06-18'), call('add', { a: 'one' })],
  tasksCreate: [open(), ask('tasks/create', { name: 'add', arguments: { a: 1 } })],
}
