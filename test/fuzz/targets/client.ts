import { createClient } from '../../../src/client.ts'
import { REVISIONS, type Revision } from '../../../src/protocol/revisions.ts'
import { target, type Target } from '../fuzz.ts'
import { ANSWERS, anyAnswers, greeting, USES, using, withId } from '../hostile.ts'
import { readReply } from '../replies.ts'

interface Input {
  readonly revision: Revision
  readonly method: string
  /** Whether the client insists on the revision, or finds out. */
  readonly insists: boolean
  readonly answers: readonly string[]
  /** What it says to a list of tools, where the client wants something else. */
  readonly lists: readonly string[]
  /** What the server says before it greets, if it does not only greet. */
  readonly before: readonly string[]
}

/** Whatever a server in the same process says, a client ends what it was asked to do with a result or an error of its own. */
export const clientTarget: Target = target<Input>({
  name: 'client',
  share: 0.5,
  make(random) {
    const revision = random.pick(REVISIONS)
    const method = random.pick([...USES.keys()])
    const opening = revision === '2026-07-28' ? 'server/discover' : 'initialize'
    const before = random.oneIn(6) ? anyAnswers(opening, revision, random) : []
    return {
      revision,
      method,
      insists: !random.oneIn(4),
      answers: anyAnswers(method, revision, random),
      lists: anyAnswers('tools/list', revision, random),
      before,
    }
  },
  async check(input) {
    const { revision, method, insists } = input
    const server = hostileServer(input)
    const client = createClient(server, {
      ...(insists && { revision }),
      checkInput: true,
      answers: ANSWERS,
      timeout: '5s',
      total: '5s',
      probe: '1s',
    })
    await using(client, method)
    for (const text of server.sent) readReply(text)
  },
  *shrink(input) {
    for (const [at] of input.answers.entries()) yield { ...input, answers: input.answers.toSpliced(at, 1) }
  },
})

interface Hostile {
  readonly sent: readonly string[]
  connect(options: { receive(text: string): void }): { send(text: string): void; close(): void }
}

/** Says what it was told to say, and after that no to everything. */
function hostileServer({ revision, method: wanted, answers, lists, before }: Input): Hostile {
  const sent: string[] = []
  return {
    sent,
    connect({ receive }) {
      let open = true
      const say = (text: string): void => queueMicrotask(() => (open ? receive(text) : undefined))
      const send = (text: string): void => {
        sent.push(text)
        const { id, method } = JSON.parse(text) as { readonly id?: unknown; readonly method?: string }
        if (id === undefined || method === undefined) return
        const result = greeting(method, revision)
        const others = method === 'tools/list' && wanted !== 'tools/list' ? lists : answers
        for (const each of result === undefined ? others : before) say(withId(each, id))
        if (result !== undefined) say(JSON.stringify({ jsonrpc: '2.0', id, result }))
        say(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'enough' } }))
      }
      return { send, close: () => void (open = false) }
    },
  }
}
