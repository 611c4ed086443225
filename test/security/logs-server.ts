// A server whose errors repeat what a client sent, as a program that can be given little memory. Its log is the default
// one. It gets one message and tells how it replied.
import { createServer } from '../../src/index.ts'
import { META } from '../../src/protocol/meta.ts'

// As much as over HTTP.
const limits = { memoryBytes: 67_108_864 }
const app = createServer({ name: 'logs', version: '1', limits })
  .tool('order', { input: { type: 'object', properties: { item: { type: 'string' } } } }, ({ item }) => {
    throw new RangeError(`no such item: ${item}`, { cause: new Error(`not found: ${item}`) })
  })
  .tool('down', {}, () => {
    throw new Error('the database is down')
  })
  .use('resources/read', () => {
    throw new Error('no access')
  })
  .resource('x://{id}', {}, () => 'x')

/** The text of a message of about 48 MB; its parts are written by hand, because JSON.stringify would need them twice. */
const MESSAGES: Readonly<Record<string, () => readonly [method: string, params: string]>> = {
  argument: () => ['tools/call', `"name":"order","arguments":{"item":"${'\\n'.repeat(24_000_000)}"}`],
  requestId: () => ['tools/call', `"name":"down","requestId":"${'x'.repeat(48_000_000)}"`],
  requestIds: () => {
    const members = Array.from({ length: 4800 }, (_, at) => `"k${at}":"${'x'.repeat(9990)}"`)
    return ['tools/call', `"name":"down","requestId":{${members.join(',')}}`]
  },
  hidden: () => ['tools/call', '"name":"down","requestId":"\u202e\u2028forged"'],
  target: () => ['resources/read', `"uri":"x://${'\\u2028'.repeat(8_000_000)}"`],
}

const [method, params] = MESSAGES[process.argv[2] as string]!()
const _meta = JSON.stringify({ [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: {} })
const end = app.connect({
  receive: (reply) => void process.stdout.write(reply.slice(0, 1000) + reply.slice(-1000)),
})
end.send(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params},"_meta":${_meta}}}`)
