import type { ClientSubject } from '../client-subject.ts'
import type { Connection, Scenario } from '../client/scenario.ts'
import { spreadOver } from '../message.ts'
import { ALL, D_TO_E, E_ONLY, passed, unchecked, type Rule, type Transport } from '../rule.ts'
import { broken, everyVisit, goesOn, MOMENT, shown } from './verdicts.ts'

const STDIO: readonly Transport[] = ['stdio']
const LINES: readonly Transport[] = ['stdio', 'tcp']

/** Rules about lines: stdio, and sockets where they apply. */
export const CLIENT_LINE_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R060',
    level: 'must',
    revisions: ALL,
    transports: LINES,
    rule: 'Each message is one line.',
    how: 'Looks for messages that are spread over several lines, or do not end with a line break.',
    fix: 'Write JSON without line breaks, and end each message with one.',
    isLast: true,
    check: (subject) =>
      everyVisit(subject, (visit) => {
        const count = spreadOver(visit.seen.map(({ text }) => text))
        if (count !== undefined) return broken(visit, undefined, `a message is spread over ${count} lines`)
        if (visit.rest.trim() !== '')
          return broken(visit, undefined, `the input ends with ${shown(visit.rest)}, without a line break`)
        return visit.seen.length > 0 ? passed : unchecked('the client sends nothing')
      }),
  },
  {
    id: 'R062',
    level: 'must',
    revisions: ALL,
    transports: STDIO,
    rule: 'Only messages are written to the stdin of the server.',
    how: 'Looks at every line of stdin.',
    fix: 'Write nothing but JSON-RPC messages to stdin.',
    isLast: true,
    check: (subject) =>
      everyVisit(subject, (visit) => {
        const wrong = visit.seen.find(({ text, messages }) => text.trim() !== '' && messages.length === 0)
        if (wrong !== undefined) return broken(visit, wrong, `stdin has the line ${shown(wrong.text)}`)
        return visit.seen.length > 0 ? passed : unchecked('the client sends nothing')
      }),
  },
  {
    id: 'R063',
    level: 'should',
    revisions: ALL,
    transports: STDIO,
    rule: 'To end a server, a client closes its stdin first, and sends SIGTERM only later.',
    how: 'Looks whether stdin ends before the program is killed.',
    fix: 'Close stdin, wait a moment for the program to end, and then send SIGTERM and SIGKILL.',
    async check(subject) {
      const visit = await subject.usual()
      if (!visit.hasLeft) return unchecked(`the client did not leave by itself: ${visit.ending}`)
      const streams = new Set(visit.seen.map(({ stream }) => stream))
      if (streams.size === 0) return unchecked('the client sends nothing')
      for (const stream of streams) {
        const own = visit.happened.filter((one) => one.stream === stream && one.what !== 'open')
        if (own.some(({ what }) => what === 'end')) continue
        const found = own[0]?.what === 'closed' ? 'kills the server' : `sends ${own[0]?.what ?? 'a signal'}`
        return broken(visit, own[0], `the client ${found} without closing its stdin`)
      }
      return passed
    },
  },
  {
    id: 'R065',
    level: 'should',
    revisions: D_TO_E,
    transports: STDIO,
    rule: 'Output to stderr is not a failure.',
    how: 'Writes to stderr at the start, and looks whether the client goes on.',
    fix: 'Log what comes from stderr, or ignore it.',
    check: (subject) => goesOn(subject, STDERR, 'the client does not go on after output to stderr'),
  },
  {
    id: 'R066',
    level: 'should',
    revisions: E_ONLY,
    transports: STDIO,
    rule: 'A client starts a server again that ended unexpectedly.',
    how: 'Ends at the first call of a tool, and looks whether the client starts the program again.',
    fix: 'Start the program again when it ends and requests are left to send.',
    async check(subject) {
      const visit = await subject.visit(DYING)
      if (!visit.notes.has(MOMENT)) return unchecked('the client calls no tool')
      if (visit.happened.filter(({ what }) => what === 'open').length > 1) return passed
      // A client that leaves has nothing more to ask.
      return visit.hasLeft
        ? unchecked('the client leaves when the server has ended')
        : broken(visit, undefined, 'the client stays, and does not start the server again')
    },
  },
  {
    id: 'R068',
    level: 'convention',
    revisions: ALL,
    transports: LINES,
    rule: 'A client accepts CRLF, and ignores blank lines and a line that is not a message.',
    how: 'Ends lines with CRLF, sends blank lines, and one line that is not JSON.',
    fix: 'Remove a carriage return at the end of a line, and skip lines that are blank or not JSON.',
    check: (subject) =>
      goesOn(
        subject,
        ODD_LINES,
        'the client does not go on after a CRLF, a blank line or a line that is not JSON',
      ),
  },
]

const STDERR: Scenario = {
  name: 'stderr',
  does: 'writes warnings to stderr',
  revisions: D_TO_E,
  transports: STDIO,
  begin: () => ({
    opened: (connection) =>
      connection.stderr('warning: the validator writes to stderr\nerror: this is not one\n'),
  }),
}

const DYING: Scenario = {
  name: 'dying',
  does: 'ends at the first call of a tool',
  revisions: E_ONLY,
  transports: STDIO,
  begin() {
    let connection: Connection | undefined
    return {
      opened(opened) {
        connection = opened
      },
      message({ method, seen, visit }) {
        if (method !== 'tools/call' || visit.notes.has(MOMENT)) return false
        visit.notes.set(MOMENT, seen.at)
        connection?.close()
        return true
      },
    }
  },
}

const ODD_LINES: Scenario = {
  name: 'odd-lines',
  does: 'ends lines with CRLF, and sends blank lines and a line that is not a message',
  revisions: ALL,
  transports: LINES,
  begin() {
    let isFirst = true
    return {
      line(text) {
        const before = isFirst ? 'this line is not a message\r\n' : ''
        isFirst = false
        return `${before}\n${text}\r\n`
      },
    }
  },
}
