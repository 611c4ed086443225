import { isResponse, spreadOver } from '../message.ts'
import { ALL, E_ONLY, failed, passed, unchecked, unless, type Rule, type Transport } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { LineWire } from '../wire-lines.ts'
import { isResponseTo } from '../wire.ts'
import { cancelCall } from './cancelled-call.ts'

const STDIO: readonly Transport[] = ['stdio']
const LINES: readonly Transport[] = ['stdio', 'tcp']
/** How long a server may take to end after its input has ended. */
const END_MS = 3_000

/** Rules about lines: stdio, and sockets where they apply. */
export const LINE_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R060',
    level: 'must',
    revisions: ALL,
    transports: LINES,
    rule: 'Each message is one line.',
    how: 'Looks for messages that are spread over several lines.',
    fix: 'Write JSON without line breaks, and end each message with one.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const wires = subject.wires.filter((wire) => wire instanceof LineWire)
      if (wires.every(({ received }) => received.length === 0)) return unchecked('the server sent nothing')
      for (const wire of wires) {
        const count = spreadOver(wire.received.map(({ text }) => text))
        if (count !== undefined) return failed(`a message is spread over ${count} lines`)
      }
      return passed
    },
  },
  {
    id: 'R061',
    level: 'must',
    revisions: ALL,
    transports: STDIO,
    rule: 'Only messages are written to stdout.',
    how: 'Looks at every line of stdout, from the start of the program on.',
    fix: 'Write logs to stderr: console.error instead of console.log.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const received = subject.wires.flatMap((wire) => wire.received)
      if (received.length === 0) return unchecked('the server sent nothing')
      const wrong = received.find(({ text, messages }) => text.trim() !== '' && messages.length === 0)
      return unless(wrong && `stdout has the line ${JSON.stringify(wrong.text.slice(0, 150))}`)
    },
  },
  {
    id: 'R064',
    level: 'should',
    revisions: E_ONLY,
    transports: STDIO,
    rule: 'A server ends soon after its input has ended.',
    how: `Ends the input, and waits ${END_MS / 1000} s for the end of the output.`,
    fix: 'Exit when stdin ends; end timers and connections that keep the process alive.',
    async check(subject) {
      const { wire } = await subject.session()
      if (!(wire instanceof LineWire)) return unchecked('this is not stdio')
      wire.endOutput()
      const ended = await wire.waitForEnd(END_MS)
      return unless(ended === undefined ? 'the server goes on after its input has ended' : undefined)
    },
  },
  {
    id: 'R067',
    level: 'must',
    revisions: E_ONLY,
    transports: ['stdio', 'ws', 'tcp'],
    rule: 'After a request was cancelled, nothing more is sent for it.',
    how: 'Looks for a tool that takes a while even if nothing else is called, calls it, cancels the call, and waits.',
    fix: 'Stop the work, and send no response to a cancelled request.',
    calls: true,
    check: cancelCall,
  },
  {
    id: 'R068',
    level: 'convention',
    revisions: ALL,
    transports: LINES,
    rule: 'Lines may end with CRLF, empty lines are ignored, and a line that is no JSON is answered with -32700.',
    how: 'Sends such lines, and then a request.',
    fix: 'Trim lines, skip empty ones, and go on after a bad one.',
    async check(subject) {
      const session = await subject.session()
      const { wire } = session
      if (!(wire instanceof LineWire)) return unchecked('these are not lines')
      const from = subject.trace.mark
      await wire.sendPart('\n\r\n')
      await wire.sendPart(
        `${JSON.stringify(session.requestOf(subject.isModern ? 'server/discover' : 'ping', undefined, { id: 'crlf' }))}\r\n`,
      )
      if ((await wire.wait(isResponseTo('crlf'), { from, ms: subject.ms })) === undefined)
        return failed('a line that ends with CRLF, after an empty one, gets no response')
      await wire.sendPart('no json\n')
      const error = await session.waitBriefly(
        ({ messages }) =>
          messages.some(
            (one) => isResponse(one) && (one['error'] as { code?: unknown } | undefined)?.code === -32_700,
          ),
        from,
      )
      if (error === undefined) return failed('a line that is no JSON is not answered with -32700')
      const { result } = await session.request(subject.isModern ? 'server/discover' : 'ping')
      return unless(result === undefined ? 'the server does not answer after a bad line' : undefined)
    },
  },
]
