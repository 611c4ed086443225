import { member, type Message } from '../message.ts'
import { ALL, passed, failed, TRANSPORTS, type Rule, type Verdict } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Reply } from '../session.ts'

const LISTS = [
  ['resources', 'resources/list', 'resources'],
  ['resources', 'resources/templates/list', 'resourceTemplates'],
  ['prompts', 'prompts/list', 'prompts'],
] as const

/** What belongs to a capability and needs nothing that is listed. */
const METHODS: readonly (readonly [readonly string[], string, Message])[] = [
  [['tasks', 'list'], 'tasks/list', {}],
  [['tasks', 'cancel'], 'tasks/cancel', { taskId: 'validator-unknown' }],
]

/** Our own check that the other capabilities are as true as that for tools. */
export const CAPABILITY_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V140',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'A server declares resources and prompts if and only if it has them, and knows the methods of what it declares.',
    how: 'Lists resources, templates and prompts, uses what is listed, and asks for a completion and, if they are declared, for tasks.',
    fix: 'Declare "resources": {} and "prompts": {} if you list any, and no capability whose methods you do not know.',
    async check(subject) {
      const capabilities = await subject.capabilities()
      const lists = await untrueList(subject, capabilities)
      if (lists.is !== 'passed') return lists
      const { calls, reads, prompts } = await subject.survey()
      const uses: readonly (readonly [string, readonly { readonly reply: Reply }[]])[] = [
        ['resources/read', reads],
        ['prompts/get', prompts],
        ['tools/call', calls],
      ]
      for (const [method, used] of uses)
        if (used.length > 0 && used.every(({ reply }) => isUnknown(reply)))
          return failed(`the server does not know ${method}, and lists what it is for`)
      const unknown = await unknownMethod(subject, capabilities)
      if (unknown !== undefined) return failed(unknown)
      if (subject.revision === '2024-11-05' || !Object.hasOwn(capabilities, 'completions')) return passed
      const completion = await (await subject.shared()).request('completion/complete', await anyRef(subject))
      return isUnknown(completion)
        ? failed('the server declares completions, and does not know completion/complete')
        : passed
    },
  },
]

async function untrueList(subject: ServerSubject, capabilities: Message): Promise<Verdict> {
  const session = await subject.shared()
  const known = new Map<string, boolean>()
  for (const [capability, method, key] of LISTS) {
    const reply = await session.request(method)
    const items = member(reply.result, key)
    if (!Object.hasOwn(capabilities, capability)) {
      if (Array.isArray(items) && items.length > 0)
        return failed(`the server answers ${method}, and does not declare ${capability}`)
      continue
    }
    // A server may have templates alone, or no templates.
    known.set(capability, known.get(capability) === true || !isUnknown(reply))
  }
  const untrue = [...known].find(([, isKnown]) => !isKnown)
  return untrue === undefined
    ? passed
    : failed(`the server declares ${untrue[0]}, and does not know ${untrue[0]}/list`)
}

/** A method that belongs to a declared capability and is unknown. */
async function unknownMethod(subject: ServerSubject, capabilities: Message): Promise<string | undefined> {
  const session = await subject.shared()
  for (const [path, method, params] of METHODS) {
    if (member(capabilities, ...path) === undefined) continue
    if (isUnknown(await session.request(method, params)))
      return `the server declares ${path.join('.')}, and does not know ${method}`
  }
  return undefined
}

function isUnknown({ error }: Reply): boolean {
  return error?.['code'] === -32_601
}

/** Something to complete; the server may not know it, but it must know the method. */
async function anyRef(subject: ServerSubject): Promise<Message> {
  const [prompt] = await subject.list('prompts')
  const declared = prompt?.['arguments']
  const name = Array.isArray(declared) ? member(declared[0], 'name') : undefined
  return {
    ref: { type: 'ref/prompt', name: prompt?.['name'] ?? 'validator' },
    argument: { name: name ?? 'validator', value: '' },
  }
}
