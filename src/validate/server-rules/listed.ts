import { isObject, member, type Message } from '../message.ts'
import { absent, ALL, noneOf, TRANSPORTS, type Rule } from '../rule.ts'
import { readList, type Kind, type ServerSubject } from '../server-subject.ts'
import type { Reply, Session } from '../session.ts'
import { inputOf, promptParams } from '../survey.ts'
import { requestTool } from '../tool-call.ts'

/** What names an item of a list, and a name that no server has. */
const KEYS = { tools: 'name', resources: 'uri', prompts: 'name' } as const
const UNKNOWN = {
  tools: 'validator_unknown',
  resources: 'validator://missing/resource',
  prompts: 'validator-unknown',
} as const
type Listed = keyof typeof KEYS & Kind

/** Words with which servers say that they do not have something. */
const NOT_FOUND = /unknown|not found|not exist|no such|not registered/i

/** Our own checks that a server has what it lists. */
export const LISTED_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V141',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'The resources and prompts that a server lists exist.',
    how: 'Reads every listed resource and prompt, and compares errors with those for made-up ones.',
    fix: 'List only what you have, under the URI or name that you accept.',
    async check(subject) {
      const { reads, prompts } = await subject.survey()
      if (reads.length + prompts.length === 0) return absent('the server lists no resources and no prompts')
      const session = await subject.session()
      return noneOf([
        ...(await lostOf(session, 'resources', new Map(reads.map((one) => [one.uri, one.reply])))),
        ...(await lostOf(session, 'prompts', new Map(prompts.map((one) => [one.name, one.reply])))),
      ])
    },
  },
  {
    id: 'V142',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'The tools that a server lists exist.',
    how: 'Calls every tool, and compares errors with those for a made-up one.',
    fix: 'List only the tools that you have, under the names that you accept.',
    calls: true,
    async check(subject) {
      const { calls } = await subject.survey()
      if (calls.length === 0) return absent('no tool was called')
      const replies = new Map(calls.map(({ tool, reply }) => [String(tool['name']), reply]))
      return noneOf(await lostOf(await subject.session(), 'tools', replies))
    },
  },
]

/** The items of a list that the server does not know, as it says itself. */
async function lostOf(
  session: Session,
  kind: Listed,
  replies: ReadonlyMap<string, Reply>,
): Promise<readonly string[]> {
  const refused = [...replies].filter(([, reply]) => refusalIn(reply) !== undefined)
  if (refused.length === 0) return []
  const unknown = UNKNOWN[kind]
  const wanted = refusalIn(await use(session, kind, { [KEYS[kind]]: unknown }))
  const lost: string[] = []
  for (const [name, reply] of refused) {
    if (!isSame({ refusal: refusalIn(reply), name }, { refusal: wanted, name: unknown })) continue
    // Lists may have changed since; only what is listed before and after counts.
    const item = await find(session, kind, name)
    const again = item && refusalIn(await use(session, kind, item))
    if (again === undefined || !isSame({ refusal: again, name }, { refusal: wanted, name: unknown })) continue
    if ((await find(session, kind, name)) !== undefined)
      lost.push(
        `${kind}/list has ${JSON.stringify(name).slice(0, 100)}, and the server answers that it does not exist`,
      )
  }
  return lost
}

function use(session: Session, kind: Listed, item: Message): Promise<Reply> {
  if (kind === 'tools') return requestTool(session, [item, inputOf(item)])
  return kind === 'resources'
    ? session.request('resources/read', { uri: item['uri'] })
    : session.request('prompts/get', promptParams(item))
}

async function find(session: Session, kind: Listed, name: string): Promise<Message | undefined> {
  const { items } = await readList(session, kind)
  return items.find((item) => item[KEYS[kind]] === name)
}

/** How a request is refused: the code of an error, or none for a result with `isError`, and the text. */
interface Refusal {
  readonly code: unknown
  readonly text: string
}

function refusalIn({ error, result }: Reply): Refusal | undefined {
  if (error !== undefined) return { code: error['code'], text: String(error['message']) }
  if (result?.['isError'] !== true) return undefined
  const content = Array.isArray(result['content']) ? result['content'].filter(isObject) : []
  return { code: undefined, text: content.map((block) => String(member(block, 'text'))).join(' ') }
}

interface Named {
  readonly refusal: Refusal | undefined
  readonly name: string
}

/** Whether two refusals say the same of two names: that there is nothing of this name. */
function isSame(one: Named, other: Named): boolean {
  if (one.refusal === undefined || other.refusal === undefined || one.refusal.code !== other.refusal.code)
    return false
  const [left = '', right] = [
    sentenceOf(one.refusal.text, one.name),
    sentenceOf(other.refusal.text, other.name),
  ]
  return left === right && (left.includes('…') || NOT_FOUND.test(left))
}

/** The first part of a text, without the name that it is about: some servers go on with a similar name. */
function sentenceOf(text: string, name: string): string | undefined {
  return text
    .replaceAll(name, '…')
    .split(/[;,.?!()\n]/)[0]
    ?.trim()
}
