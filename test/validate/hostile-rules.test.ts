import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Revision } from '../../src/protocol/revisions.ts'
import { spreadOver, type Message } from '../../src/validate/message.ts'
import type { Verdict } from '../../src/validate/rule.ts'
import { SERVER_RULES } from '../../src/validate/server-rules.ts'
import { ServerSubject } from '../../src/validate/server-subject.ts'
import { Trace } from '../../src/validate/trace.ts'
import { LineWire } from '../../src/validate/wire-lines.ts'
import { processorMs } from '../harness/processor.ts'

/** How many messages a peer may send on one connection. */
const MOST = 9_900

/** A server that answers what `answer` says, and otherwise what every server answers. It offers one tool and one resource. */
function subjectOf(
  revision: Revision,
  answer: (message: Message) => string | undefined,
): { readonly subject: ServerSubject; close(): Promise<void> } {
  const open = async (trace: Trace): Promise<LineWire> => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const say = (id: unknown, result: Message): void =>
      void input.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
    let rest = ''
    output.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const message = JSON.parse(line) as Message
        const { id, method } = message
        if (id === undefined || method === undefined) continue
        const said = answer(message)
        if (said !== undefined) input.write(`${said}\n`)
        if (method === 'initialize' || method === 'server/discover')
          say(id, {
            protocolVersion: revision,
            supportedVersions: [revision],
            capabilities: { tools: {}, resources: { subscribe: true } },
            serverInfo: { name: 'hostile', version: '1' },
          })
        else if (method === 'tools/list') say(id, { tools: [{ name: 'a', inputSchema: { type: 'object' } }] })
        else if (method === 'resources/list') say(id, { resources: [{ uri: 'a://b', name: 'b' }] })
        else say(id, { content: [] })
      }
    })
    return new LineWire('stdio', { input, output }, async () => void input.destroy(), trace)
  }
  const subject = new ServerSubject({
    door: { transport: 'stdio', open },
    revision,
    trace: new Trace(),
    mayCall: true,
    ms: 2_000,
  })
  return { subject, close: () => subject.close() }
}

function batch(one: (at: number) => object): string {
  return JSON.stringify(Array.from({ length: MOST }, (_, at) => one(at)))
}

const isCall = ({ method }: Message): boolean => method === 'tools/call'

test.each<readonly [rule: string, revision: Revision, said: (message: Message) => string | undefined]>([
  [
    'R193',
    '2025-06-18',
    (message) =>
      isCall(message)
        ? batch((at) =>
            at === MOST - 1
              ? { id: 'z', method: 'q' }
              : { method: 'notifications/cancelled', params: { requestId: 'z' } },
          )
        : undefined,
  ],
  ['R003', '2025-06-18', (message) => (isCall(message) ? batch((id) => ({ id, method: 'q' })) : undefined)],
  [
    'R220',
    '2026-07-28',
    (message) =>
      isCall(message)
        ? batch(() => ({ id: message['id'], result: { resultType: 'input_required' } }))
        : undefined,
  ],
  [
    'R206',
    '2025-11-25',
    (message) => {
      if (!isCall(message)) return undefined
      const ids = Array.from({ length: 20_000 }, (_, at) => at)
      const messages = [
        { content: ids.map((id) => ({ type: 'tool_use', id })) },
        { content: ids.toReversed().map((toolUseId) => ({ type: 'tool_result', toolUseId })) },
      ]
      return JSON.stringify({ id: 'q', method: 'sampling/createMessage', params: { messages } })
    },
  ],
])('%s takes time in proportion to the number of messages', async (id, revision, said) => {
  const { subject, close } = subjectOf(revision, said)
  const rule = SERVER_RULES.find((one) => one.id === id && one.revisions.includes(revision))
  await subject.survey()
  let verdict: Verdict | undefined
  const ms = await processorMs(async () => (verdict = await rule?.check(subject)))
  expect(verdict).toEqual({ is: 'passed' })
  expect(ms).toBeLessThan(400)
  await close()
})

test('a message that is spread over lines is looked for in texts of bounded length', async () => {
  const lines = JSON.stringify({ a: [{ b: [1, 2] }], c: 'd' }, undefined, 1).split('\n')
  expect(spreadOver(['{"a":1}', ...lines, '{}'])).toBe(lines.length)
  const long = [`[${'{"a":0},'.repeat(40_000)}`, ...Array<string>(210).fill('{}'), ']']
  const ms = await processorMs(() => expect(spreadOver(long)).toBeUndefined())
  expect(ms).toBeLessThan(400)
})
