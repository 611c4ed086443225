import { Turns } from '../../base/next-task.ts'
import { ALL, noneOf, TRANSPORTS, type Rule, type Verdict } from '../rule.ts'
import type { Kind, ServerSubject } from '../server-subject.ts'
import { hiddenIn, orderIn, textsIn, type Placed } from '../text-lint.ts'

const KINDS: readonly Kind[] = ['tools', 'resources', 'templates', 'prompts']

const EVERYWHERE = { level: 'should', revisions: ALL, transports: TRANSPORTS } as const

/** Our own checks of everything that a model reads before it uses the server. */
export const TEXT_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V020',
    ...EVERYWHERE,
    rule: 'Names, descriptions and instructions hide nothing from people.',
    how: 'Looks for controls, characters without width, directions, tags and selectors in every text of the lists and the greeting; emoji and scripts that need such characters may have them.',
    fix: 'Remove the character; if you did not put it there, find out who did.',
    check: (subject) => eachText(subject, hiddenIn),
  },
  {
    id: 'V021',
    ...EVERYWHERE,
    rule: 'Names, descriptions and instructions give the model no orders against its user.',
    how: 'Looks for phrases such as "ignore previous instructions" and for tags of system prompts in every text of the lists and the greeting.',
    fix: 'Say what the tool does, and nothing about other instructions or what to tell the user.',
    check: (subject) => eachText(subject, orderIn),
  },
]

function eachText(subject: ServerSubject, find: (text: string) => string | undefined): Promise<Verdict> {
  return noneOf(faultsIn(subject, find))
}

async function* faultsIn(
  subject: ServerSubject,
  find: (text: string) => string | undefined,
): AsyncGenerator<string> {
  // The time for the run may end meanwhile.
  const turns = new Turns()
  for await (const { where, text } of readTexts(subject)) {
    if (turns.isOver()) await turns.next()
    const found = find(text)
    if (found !== undefined) yield `${where}: ${found}`
  }
}

/** Everything that a server gives to a model before it is used. */
async function* readTexts(subject: ServerSubject): AsyncGenerator<Placed> {
  const { greeting } = await subject.shared()
  yield* textsIn(greeting?.['instructions'], 'instructions')
  yield* textsIn(greeting?.['serverInfo'], 'serverInfo')
  for (const kind of KINDS)
    for (const item of await subject.list(kind))
      yield* textsIn(item, `${kind} ${JSON.stringify(item['name'] ?? item['uri'])?.slice(0, 100)}`)
}
