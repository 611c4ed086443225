import type { ClientSubject } from '../client-subject.ts'
import { usualOffer, type Offer } from '../client/offer.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Heard, Visit } from '../client/visit.ts'
import { encodedHeader } from '../header-value.ts'
import { member, type Message } from '../message.ts'
import { E_ONLY, passed, unchecked, type Rule, type Transport, type Verdict } from '../rule.ts'
import { PROTOCOL_VERSION } from '../session.ts'
import { posted } from './http.ts'
import { broken, everyVisit, goesOn, shown } from './verdicts.ts'

const HTTP: readonly Transport[] = ['http']
/** The parameter that `Mcp-Name` repeats. */
const NAMED: Readonly<{ [method: string]: string }> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}
const UNSAFE_NAME = 'grüße'
const SENTINEL_NAME = '=?base64?c2hpcA==?='
/** The arguments of the tool `weather` that are headers too. */
const PARAM_HEADERS: Readonly<{ [property: string]: string }> = { city: 'City', days: 'Days', note: 'Note' }

/** Rules about the headers and streams of 2026-07-28. */
export const CLIENT_HTTP_MODERN_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R111',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Each POST has MCP-Protocol-Version, with the version of its body.',
    how: 'Compares the header of every POST with its body.',
    fix: 'Send MCP-Protocol-Version with the version in _meta.',
    isLast: true,
    check: (subject) =>
      everyPost(subject, ({ message, seen }) => {
        const own = member(message, 'params', '_meta', PROTOCOL_VERSION)
        const version = own ?? subject.revision
        const header = seen.http?.headers['mcp-protocol-version']
        if (header === version) return undefined
        const is = header === undefined ? 'is missing' : `is ${shown(header)}`
        return own === undefined
          ? `MCP-Protocol-Version ${is}, the body has no version, and the server has ${subject.revision}`
          : `MCP-Protocol-Version ${is}, and the body has ${shown(own)}`
      }),
  },
  {
    id: 'R112',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Each request has its method in Mcp-Method.',
    how: 'Compares the header of every request with its body.',
    fix: 'Send Mcp-Method with the method of the request.',
    isLast: true,
    check: (subject) =>
      everyPost(subject, ({ message, seen }) => {
        const header = seen.http?.headers['mcp-method']
        return !Object.hasOwn(message, 'id') || header === message['method']
          ? undefined
          : `Mcp-Method is ${shown(header)}, and the method is ${shown(message['method'])}`
      }),
  },
  {
    id: 'R113',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'tools/call, prompts/get and resources/read have the name or the URI in Mcp-Name.',
    how: 'Compares the header of these requests with their body.',
    fix: 'Send Mcp-Name with params.name, or with params.uri for resources/read.',
    isLast: true,
    check: (subject) =>
      everyPost(
        subject,
        ({ message, seen }) => {
          const name = nameOf(message)
          const header = decoded(seen.http?.headers['mcp-name'])
          return header === name ? undefined : `Mcp-Name is ${shown(header)}, and the name is ${shown(name)}`
        },
        // Names that need an encoding have rules of their own.
        ({ message }) =>
          typeof nameOf(message) === 'string' && encodedHeader(String(nameOf(message))) === nameOf(message),
      ),
  },
  {
    id: 'R115',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'The names of headers have no case.',
    how: 'Answers with headers whose names are in capitals.',
    fix: 'Compare the names of headers in small letters.',
    check: (subject) => goesOn(subject, LOUD, 'the client does not go on after headers in capitals'),
  },
  {
    id: 'R116',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Values that are not safe in a header are encoded with base64.',
    how: `Offers a prompt with the name ${UNSAFE_NAME}, and a tool with a city as a header.`,
    fix: 'Send =?base64?…?= with the UTF-8 bytes of values that are not plain ASCII.',
    check: (subject) => encodedNames(subject, UNSAFE_NAME),
  },
  {
    id: 'R117',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Values that look like an encoded one are encoded too.',
    how: `Offers a prompt with the name ${SENTINEL_NAME}.`,
    fix: 'Encode values that begin with =?base64? and end with ?=.',
    check: (subject) => encodedNames(subject, SENTINEL_NAME),
  },
  {
    id: 'R118',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Arguments with x-mcp-header are headers too, unless they are null or absent.',
    how: 'Offers a tool with such arguments, and compares the headers of its call with them.',
    fix: 'Send Mcp-Param-<name> for each argument whose schema has x-mcp-header.',
    async check(subject) {
      const visit = await subject.visit(HEADERS)
      const call = callsOf(visit, 'weather')[0]
      if (call === undefined) return unchecked('the client does not call the tool weather')
      let given = 0
      for (const [property, name] of Object.entries(PARAM_HEADERS)) {
        const value = member(call.message, 'params', 'arguments', property)
        const header = decoded(call.seen.http?.headers[`mcp-param-${name.toLowerCase()}`])
        if (value !== undefined && value !== null) given++
        const wanted =
          value === undefined || value === null
            ? undefined
            : typeof value === 'string'
              ? value
              : JSON.stringify(value)
        if (header !== wanted)
          return broken(
            visit,
            call.seen,
            `the argument ${property} is ${shown(value)}, and Mcp-Param-${name} is ${shown(header)}`,
          )
      }
      return given > 0 ? passed : unchecked('the client calls weather without arguments')
    },
  },
  {
    id: 'R119',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Tools with an invalid x-mcp-header are left out, and the others are kept.',
    how: 'Offers tools with invalid names of headers and types, and looks at the calls.',
    fix: 'Leave out tools whose x-mcp-header is not a name of a header, or not on a text, an integer or a boolean.',
    async check(subject) {
      const [usual, visit] = await Promise.all([subject.usual(), subject.visit(HEADERS)])
      const wrong = BAD_TOOLS.flatMap(({ name }) => callsOf(visit, String(name)))[0]
      if (wrong !== undefined)
        return broken(
          visit,
          wrong.seen,
          `the client calls ${shown(member(wrong.message, 'params', 'name'))}, whose x-mcp-header is invalid`,
        )
      if (callsOf(visit, 'weather').length > 0) return passed
      const offered = usualOffer(visit.revision).tools.map(({ name }) => String(name))
      const calledIn = (each: Visit): readonly string[] =>
        offered.filter((name) => callsOf(each, name).length > 0)
      const before = calledIn(usual)
      if (before.length === 0) return unchecked('the client calls no tool that is listed')
      return before.length === offered.length || calledIn(visit).length === 0
        ? broken(visit, undefined, 'the client does not call a tool with a valid x-mcp-header')
        : unchecked('the client calls only some of the tools')
    },
  },
  {
    id: 'R121',
    level: 'should',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'A client whose headers do not match the tool lists the tools again, and repeats the call.',
    how: 'Adds x-mcp-header to a tool after it was listed, and refuses its call with -32020.',
    fix: 'After -32020, list the tools again, and repeat the call with the headers of the new schema.',
    async check(subject) {
      const visit = await subject.visit(NEW_HEADER)
      const at = visit.notes.get('refused')
      if (typeof at !== 'number') return unchecked('the client does not call the tool weather with a city')
      const listed = visit.requests('tools/list').find(({ seen }) => seen.at > at)
      if (listed === undefined) return broken(visit, { at }, 'the client does not list the tools again')
      const again = callsOf(visit, 'weather').find(({ seen }) => seen.at > listed.seen.at)
      if (again === undefined) return broken(visit, listed.seen, 'the client does not repeat the call')
      return again.seen.http?.headers['mcp-param-city'] === undefined
        ? broken(visit, again.seen, 'the client repeats the call without the new header')
        : passed
    },
  },
  {
    id: 'R128',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'A request whose stream broke off is not resumed; it is sent again with a new id.',
    how: 'Ends the stream of a call before its response, after an event with an id.',
    fix: 'Send the request again with a new id, or report an error; never send Last-Event-ID.',
    async check(subject) {
      const visit = await subject.visit(LOST_REPLY)
      const lost = visit.notes.get('lost') as Heard | undefined
      if (lost === undefined) return unchecked('the client calls no tool')
      const resumed = visit.seen.find(({ http }) => http?.headers['last-event-id'] !== undefined)
      if (resumed !== undefined) return broken(visit, resumed, 'the client tries to resume the stream')
      const same = visit
        .ownRequests()
        .find(({ message, seen }) => seen.at > lost.seen.at && message['id'] === lost.message['id'])
      return same === undefined
        ? passed
        : broken(visit, same.seen, 'the client sends the request again with the same id')
    },
  },
  {
    id: 'R132',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Comments in a stream of events are ignored.',
    how: 'Sends comments before each response.',
    fix: 'Skip lines of a stream that begin with a colon.',
    check: (subject) => goesOn(subject, COMMENTS, 'the client does not go on after a comment in a stream'),
  },
]

function nameOf({ method, params }: Message): unknown {
  const key = NAMED[String(method)]
  return key === undefined ? undefined : member(params, key)
}

/** The value of a header, decoded if it is in base64. */
function decoded(header: string | undefined): string | undefined {
  const found = /^=\?base64\?(.*)\?=$/.exec(header ?? '')?.[1]
  return found === undefined ? header : Buffer.from(found, 'base64').toString('utf8')
}

function callsOf(visit: Visit, name: string): readonly Heard[] {
  return visit.ownRequests('tools/call').filter(({ message }) => member(message, 'params', 'name') === name)
}

/** Looks at the message of every POST of this revision. */
function everyPost(
  subject: ClientSubject,
  wrong: (heard: Heard) => string | undefined,
  concerns: (heard: Heard) => boolean = () => true,
): Promise<Verdict> {
  return everyVisit(subject, (visit) => {
    const heard = posted(visit)
      .flatMap((seen) => seen.messages.map((message) => ({ message, seen })))
      .filter(
        ({ message }) => !['initialize', 'notifications/initialized'].includes(String(message['method'])),
      )
      .filter(concerns)
    for (const one of heard) {
      const found = wrong(one)
      if (found !== undefined) return broken(visit, one.seen, found)
    }
    return heard.length > 0 ? passed : unchecked('the client sends no such request')
  })
}

/** Looks at the header of a request for a prompt whose name needs an encoding. */
async function encodedNames(subject: ClientSubject, name: string): Promise<Verdict> {
  const visit = await subject.visit(HEADERS)
  const found = visit
    .ownRequests('prompts/get')
    .find(({ message }) => member(message, 'params', 'name') === name)
  if (found === undefined) return unchecked(`the client does not get the prompt ${name}`)
  const header = found.seen.http?.headers['mcp-name']
  return header === encodedHeader(name)
    ? passed
    : broken(visit, found.seen, `Mcp-Name of the prompt ${name} is ${shown(header)}`)
}

function toolOf(name: string, properties: Message, required: readonly string[] = []): Message {
  return { name, description: 'A tool with headers', inputSchema: { type: 'object', properties, required } }
}

const CITY = { type: 'string', default: 'Zürich' }
const WEATHER: Message = toolOf(
  'weather',
  {
    city: { ...CITY, 'x-mcp-header': 'City' },
    days: { type: 'integer', default: 3, 'x-mcp-header': 'Days' },
    note: { type: 'string', 'x-mcp-header': 'Note' },
  },
  ['city'],
)
const BAD_TOOLS: readonly Message[] = [
  toolOf('bad_name', { city: { ...CITY, 'x-mcp-header': 'Bad Name' } }),
  toolOf('bad_empty', { city: { ...CITY, 'x-mcp-header': '' } }),
  toolOf('bad_type', { degrees: { type: 'number', default: 1.5, 'x-mcp-header': 'Degrees' } }),
]

const HEADERS: Scenario = {
  name: 'headers',
  does: 'offers arguments and names that become headers',
  revisions: E_ONLY,
  transports: HTTP,
  official: 'http-invalid-tool-headers',
  begin: () => ({
    offer: (offer: Offer): Offer => ({
      ...offer,
      tools: [WEATHER, ...BAD_TOOLS, ...offer.tools],
      prompts: [{ name: UNSAFE_NAME }, { name: SENTINEL_NAME }],
    }),
  }),
}

const NEW_HEADER: Scenario = {
  name: 'new-header',
  does: 'adds a header to a tool after it was listed',
  revisions: E_ONLY,
  transports: HTTP,
  begin() {
    let isNew = false
    return {
      offer: (offer: Offer): Offer => ({
        ...offer,
        tools: [isNew ? WEATHER : toolOf('weather', { city: CITY }, ['city'])],
      }),
      async message(turn) {
        const isCall = turn.method === 'tools/call' && member(turn.params, 'arguments', 'city') !== undefined
        if (!isCall || isNew) return false
        isNew = true
        turn.visit.notes.set('refused', turn.seen.at)
        await turn.fail(-32_020, 'Header mismatch: Mcp-Param-City is missing', undefined, 400)
        return true
      },
    }
  },
}

const LOUD: Scenario = {
  name: 'loud-headers',
  does: 'has headers in capitals',
  revisions: E_ONLY,
  transports: HTTP,
  begin: () => ({
    http(exchange) {
      exchange.isLoud = true
      return false
    },
  }),
}

const LOST_REPLY: Scenario = {
  name: 'lost-reply',
  does: 'ends the stream of a call before the response',
  revisions: E_ONLY,
  transports: HTTP,
  begin: () => ({
    http(exchange) {
      const { seen, visit } = exchange
      const [message] = seen.messages
      if (message?.['method'] !== 'tools/call' || visit.notes.has('lost')) return false
      visit.notes.set('lost', { message, seen })
      const events = exchange.events()
      events.event({ id: 'validator-event-1', data: '' })
      events.end()
      return true
    },
  }),
}

const COMMENTS: Scenario = {
  name: 'comments',
  does: 'sends comments in its streams',
  revisions: E_ONLY,
  transports: HTTP,
  begin: () => ({
    message(turn) {
      if (turn.isRequest) turn.channel.comment('this comment is for nobody')
      return false
    },
  }),
}
