import { B_TO_E, unless, type Rule, type Transport } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { greetingWith } from './http-requests.ts'

const HTTP: readonly Transport[] = ['http']

/** Other ways to write application/json. */
const CONTENT_TYPES = [
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json; charset="utf-8"',
  'Application/JSON',
]
/** Other ways to accept JSON and streams of events. */
const ACCEPTS = [
  'text/event-stream, application/json',
  'application/json,text/event-stream',
  'application/json;q=0.9, text/event-stream;q=0.8',
  'text/plain, application/json, text/event-stream, */*;q=0.1',
]

/** Our own checks of how a server reads the headers that name types. */
export const MEDIA_TYPE_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V074',
    level: 'should',
    revisions: B_TO_E,
    transports: HTTP,
    rule: 'Accept may list application/json and text/event-stream in any order, with others and with q values.',
    how: `Sends greetings with ${ACCEPTS.map((one) => `"${one}"`).join(', ')}.`,
    fix: 'Split Accept at its commas, remove spaces and what follows a semicolon, and look for the two types.',
    check: async (subject) => unless(await refusedOf(subject, 'accept', ACCEPTS)),
  },
  {
    id: 'V075',
    level: 'should',
    revisions: B_TO_E,
    transports: HTTP,
    rule: 'Content-Type: application/json may have a charset, and any case.',
    how: `Sends greetings with ${CONTENT_TYPES.map((one) => `'${one}'`).join(', ')}.`,
    fix: 'Compare what comes before the first semicolon, without regard to case.',
    check: async (subject) => unless(await refusedOf(subject, 'content-type', CONTENT_TYPES)),
  },
]

/** The first value of a header that is refused; undefined if all are accepted. */
async function refusedOf(
  subject: ServerSubject,
  name: string,
  values: readonly string[],
): Promise<string | undefined> {
  for (const value of values) {
    const { status } = await greetingWith(subject, { [name]: value })
    if (status >= 400) return `a greeting with ${name}: ${value} is answered with status ${status}`
  }
  return undefined
}
