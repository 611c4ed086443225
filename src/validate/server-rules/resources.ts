import { isObject, isResponse, member, parsed, type Message } from '../message.ts'
import {
  A_TO_D,
  absent,
  ALL,
  E_ONLY,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
  type Verdict,
  answeredWith,
} from '../rule.ts'
import type { Kind, ServerSubject } from '../server-subject.ts'
import type { Reply } from '../session.ts'
import type { Entry } from '../trace.ts'
import type { Wire } from '../wire.ts'
import { allMessages } from './json-rpc.ts'

/** A resource that no server has. */
const MISSING = 'validator://missing/resource'

/** A file that most systems have, and ways to name it. */
const FILE = '/etc/passwd'
/** The longest path that is compared with it. */
const LONGEST_PATH = 1_000
const OUTSIDE = [`file://${FILE}`, `file:///%2e%2e/%2e%2e${FILE}`, `file://../..${FILE}`]

/** Rules about resources and lists. */
export const RESOURCE_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R170',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Each resource has a uri and a name, each template a uriTemplate and a name.',
    how: 'Looks at every listed resource and template.',
    fix: 'Give each of them its address and a name.',
    async check(subject) {
      const [resources, templates] = [await subject.list('resources'), await subject.list('templates')]
      if (resources.length + templates.length === 0) return absent('the server has no resources')
      return unless(
        wrongItem(resources, 'uri', 'a resource') ??
          wrongItem(templates, 'uriTemplate', 'a template') ??
          brokenTemplate(templates),
      )
    },
  },
  {
    id: 'R171',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'What is read has a list of contents, each with a uri, and text or base64.',
    how: 'Reads every listed resource.',
    fix: 'Return { "contents": [{ "uri": "…", "text": "…" }] }, or "blob" with base64.',
    async check(subject) {
      const { reads } = await subject.survey()
      const results = reads.flatMap(({ uri, reply: { result } }) =>
        result === undefined ? [] : [{ uri, result }],
      )
      if (reads.length === 0) return absent('the server lists no resources')
      if (results.length === 0) return unchecked('no listed resource could be read')
      for (const { uri, result } of results) {
        if (result['resultType'] === 'input_required') continue
        const { contents } = result
        if (!Array.isArray(contents)) return failed(`reading ${uri} returns no contents`)
        const wrong = contents.find((one) => !isContents(one))
        if (wrong !== undefined)
          return failed(`reading ${uri} returns ${JSON.stringify(wrong).slice(0, 150)}`)
      }
      return passed
    },
  },
  {
    id: 'R172',
    level: 'should',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A missing resource is answered with error -32002 and its uri.',
    how: 'Reads a resource that does not exist.',
    fix: 'Answer with -32002 and data: { "uri": "…" }.',
    async check(subject) {
      const { error: found, verdict } = await readMissing(subject)
      if (found === undefined) return verdict
      if (found['code'] !== -32_002)
        return failed(`a missing resource is answered with code ${String(found['code'])}`)
      return unless(member(found, 'data', 'uri') === MISSING ? undefined : 'the error has no data.uri')
    },
  },
  {
    id: 'R173',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A missing resource is answered with error -32602, never with empty contents.',
    how: 'Reads a resource that does not exist.',
    fix: 'Answer with -32602.',
    async check(subject) {
      const { error: found, verdict } = await readMissing(subject)
      if (found === undefined) return verdict
      return answeredWith(-32_602, found, 'a missing resource')
    },
  },
  {
    id: 'R175',
    level: 'must',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'A server with the capability resources.subscribe answers subscribe and unsubscribe with {}; one without it refuses them.',
    how: 'Subscribes to the first resource, and unsubscribes again.',
    fix: 'Declare "resources": { "subscribe": true } if you support subscriptions.',
    async check(subject) {
      const capabilities = await subject.capabilities()
      const [first] = await subject.list('resources')
      if (first === undefined) return absent('the server lists no resources')
      const isDeclared = member(capabilities, 'resources', 'subscribe') === true
      const session = await subject.session()
      for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
        const { result, error, problem } = await session.request(method, { uri: first['uri'] })
        if (isDeclared && result === undefined)
          return failed(problem ?? `${method} fails with code ${String(error?.['code'])}`)
        if (!isDeclared && result !== undefined)
          return failed(`${method} works, and resources.subscribe is not declared`)
        if (result !== undefined && Object.keys(result).some((key) => key !== '_meta'))
          return failed(`${method} returns more than {}`)
      }
      return passed
    },
  },
  {
    id: 'R176',
    level: 'should',
    revisions: A_TO_D,
    transports: TRANSPORTS,
    rule: 'Changes are announced only for resources that the client subscribed to.',
    how: 'Subscribes to a resource and unsubscribes again, and looks at every notifications/resources/updated.',
    fix: 'Send it only for subscribed addresses, and for what is below them.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      await subscribeBriefly(subject)
      const updates = allMessages(subject).filter(
        ({ message }) => message['method'] === 'notifications/resources/updated',
      )
      if (updates.length === 0) return absent('the server announced no change of a resource')
      const subscribed = new Map(subject.wires.map((wire) => [wire, subscribedOn(wire)]))
      const foreign = updates.find(({ wire, message, received: { at } }) => {
        const uri = String(member(message, 'params', 'uri'))
        return !subscribed.get(wire)?.some((one) => uri.startsWith(one.uri) && at < one.until)
      })
      return unless(
        foreign &&
          `a change of ${String(member(foreign.message, 'params', 'uri'))} is announced, and nobody subscribed to it`,
      )
    },
  },
  {
    id: 'R177',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A server checks the addresses of resources.',
    how: `Reads an address that is none, and ${FILE} under several addresses unless the server lists it.`,
    fix: 'Refuse what is not a URI that you serve; resolve paths before you compare them.',
    async check(subject) {
      if (!Object.hasOwn(await subject.capabilities(), 'resources'))
        return absent('the server has no resources')
      const session = await subject.shared()
      const isShown = (await subject.list('resources')).some(({ uri }) => leadsTo(String(uri), FILE))
      for (const uri of ['not a uri', ...(isShown ? [] : OUTSIDE)]) {
        const from = subject.trace.mark
        const { result, message, problem } = await session.request('resources/read', { uri })
        if (message === undefined) return failed(problem ?? `reading ${uri} gets no response`)
        const contents = result?.['contents']
        if (Array.isArray(contents) && contents.length > 0)
          return failed(`reading ${uri} returns contents`, withoutContents(subject.trace.between(from)))
      }
      return passed
    },
  },
  {
    id: 'R183',
    level: 'should',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A cursor that the server did not give out is answered with error -32602.',
    how: 'Asks for a list with a made-up cursor.',
    fix: 'Check cursors, and answer with -32602.',
    async check(subject) {
      const capabilities = await subject.capabilities()
      const kind = ['tools', 'resources', 'prompts'].find((one) => Object.hasOwn(capabilities, one))
      if (kind === undefined) return absent('the server has no lists')
      const { error, problem } = await (
        await subject.shared()
      ).request(`${kind}/list`, { cursor: 'validator-made-up' })
      if (error === undefined) return failed(problem ?? `${kind}/list accepts a made-up cursor`)
      return answeredWith(-32_602, error, 'a made-up cursor')
    },
  },
  {
    id: 'R231',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Results that can be cached have ttlMs, an integer of at least 0, and cacheScope.',
    how: 'Looks at server/discover, the lists and what was read.',
    fix: 'Add "ttlMs": 0 and "cacheScope": "private" to these results.',
    async check(subject) {
      const session = await subject.shared()
      const capabilities = await subject.capabilities()
      const replies: (readonly [string, Reply])[] = [
        ['server/discover', await session.request('server/discover')],
      ]
      for (const [capability, method] of CACHED)
        if (Object.hasOwn(capabilities, capability)) replies.push([method, await session.request(method)])
      const { reads } = await subject.survey()
      for (const { reply } of reads) replies.push(['resources/read', reply])
      for (const [method, { result }] of replies) {
        if (result === undefined || result['resultType'] === 'input_required') continue
        const { ttlMs, cacheScope } = result
        if (!Number.isSafeInteger(ttlMs) || Number(ttlMs) < 0)
          return failed(`the result of ${method} has the ttlMs ${JSON.stringify(ttlMs)}`)
        if (cacheScope !== 'public' && cacheScope !== 'private')
          return failed(`the result of ${method} has the cacheScope ${JSON.stringify(cacheScope)}`)
      }
      return passed
    },
  },
  {
    id: 'R234',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'All pages of a list have the same cacheScope.',
    how: 'Reads the pages of every list.',
    fix: 'Decide the scope for the whole list.',
    async check(subject) {
      const capabilities = await subject.capabilities()
      let pages = 0
      for (const [capability, method] of CACHED) {
        if (!Object.hasOwn(capabilities, capability)) continue
        const scopes = await scopesOf(subject, method)
        pages = Math.max(pages, scopes.length)
        if (new Set(scopes).size > 1)
          return failed(`the pages of ${method} have the scopes ${scopes.join(', ')}`)
      }
      return pages > 1 ? passed : unchecked('no list has several pages')
    },
  },
]

/** Subscribes to the first resource, and ends that at once. */
async function subscribeBriefly(subject: ServerSubject): Promise<void> {
  const [first] = await subject.list('resources')
  if (first === undefined || member(await subject.capabilities(), 'resources', 'subscribe') !== true) return
  const session = await subject.session()
  for (const method of ['resources/subscribe', 'resources/unsubscribe'])
    await session.request(method, { uri: first['uri'] })
  await session.request('ping')
}

/** A resource that was subscribed to, and when the end of that was answered. */
interface Subscribed {
  readonly uri: string
  readonly until: number
}

/** The resources that were subscribed to on a connection. */
function subscribedOn({ sent, received, transport }: Wire): readonly Subscribed[] {
  const asked = sent.flatMap(({ at, text }) => {
    const message = parsed(text)
    const uri = member(message, 'params', 'uri')
    return typeof uri === 'string'
      ? [{ at, uri, method: member(message, 'method'), id: member(message, 'id') }]
      : []
  })
  const endOf = (uri: string, from: number): number => {
    const ending = asked.find(
      (one) => one.method === 'resources/unsubscribe' && one.uri === uri && one.at > from,
    )
    const answer = received.find(
      ({ at, messages }) =>
        ending !== undefined &&
        at > ending.at &&
        messages.some((one) => isResponse(one) && one['id'] === ending.id),
    )
    // Over HTTP streams may overtake each other.
    return transport === 'http' ? Infinity : (answer?.at ?? Infinity)
  }
  return asked.flatMap(({ at, uri, method }) =>
    method === 'resources/subscribe' ? [{ uri, until: endOf(uri, at) }] : [],
  )
}

const CACHED = [
  ['tools', 'tools/list'],
  ['resources', 'resources/list'],
  ['resources', 'resources/templates/list'],
  ['prompts', 'prompts/list'],
] as const satisfies readonly (readonly [Kind, string])[]

async function scopesOf(subject: ServerSubject, method: string): Promise<readonly string[]> {
  const session = await subject.shared()
  const scopes: string[] = []
  let cursor: unknown
  do {
    const { result } = await session.request(method, cursor === undefined ? undefined : { cursor })
    if (result === undefined) break
    scopes.push(String(result['cacheScope']))
    cursor = result['nextCursor']
  } while (cursor !== undefined && scopes.length < 5)
  return scopes
}

function wrongItem(items: readonly Message[], key: string, what: string): string | undefined {
  const wrong = items.find((item) => typeof item[key] !== 'string' || typeof item['name'] !== 'string')
  return wrong && `${what} is ${JSON.stringify(wrong).slice(0, 150)}`
}

/** A template whose braces do not match. */
function brokenTemplate(templates: readonly Message[]): string | undefined {
  const broken = templates.find(
    ({ uriTemplate }) => !/^[^{}]*(?:\{[^{}]+\}[^{}]*)*$/.test(String(uriTemplate)),
  )
  return broken && `the template ${JSON.stringify(broken['uriTemplate']).slice(0, 150)} is not a URI template`
}

function isContents(value: unknown): boolean {
  if (!isObject(value) || typeof value['uri'] !== 'string') return false
  const { text, blob } = value
  if (typeof text === 'string') return blob === undefined
  return typeof blob === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(blob) && blob.length % 4 === 0
}

/** The error for a resource that does not exist, or the verdict if there is none. */
async function readMissing(
  subject: ServerSubject,
): Promise<{ readonly error: Message | undefined; readonly verdict: Verdict }> {
  if (!Object.hasOwn(await subject.capabilities(), 'resources'))
    return { error: undefined, verdict: absent('the server has no resources') }
  const { error, problem } = await (await subject.shared()).request('resources/read', { uri: MISSING })
  return { error, verdict: failed(problem ?? 'a missing resource is answered with a result') }
}

/** Whether a listed address is that of a file, or of a folder that it is in. */
function leadsTo(uri: string, file: string): boolean {
  const path = /^file:\/\/(\/.*)$/.exec(uri)?.[1]
  if (path === undefined || path.length > LONGEST_PATH) return false
  return path === file || file.startsWith(`${path.replace(/\/+$/, '')}/`)
}

/** An exchange without what a file has in it: a report may be read by others. */
function withoutContents(entries: readonly Entry[]): readonly Entry[] {
  return entries.map((entry) =>
    entry.from === 'peer' ? { ...entry, text: '(a result with contents, which are not shown)' } : entry,
  )
}
