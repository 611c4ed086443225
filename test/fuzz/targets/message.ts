import { McpError } from '../../../src/errors/error.ts'
import { DIALECTS } from '../../../src/protocol/switches.ts'
import { takeBody } from '../../../src/transport/http/server/given-body.ts'
import { Load } from '../../../src/rpc/load.ts'
import { answeredId } from '../../../src/transport/io/receive.ts'
import { checkBatch } from '../../../src/wire/batch.ts'
import { readableId, readMessage } from '../../../src/wire/message.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { isMessage } from '../replies.ts'
import { messageText } from '../seeds.ts'

const SMALL = {
  httpBytes: 1e6,
  heap: 1,
  depth: 64,
  values: 1000,
  keys: 1000,
  containers: 1000,
  stringLength: 1e5,
}

/** What is taken as a message is one, by a definition written without looking at the code; all else is refused in order. */
export const messageTarget: Target = target<string>({
  name: 'message',
  share: 14,
  make: (random) => messageText(random),
  check(text) {
    const answered = answeredId(text)
    claim(answered === undefined || Number.isSafeInteger(answered), 'an answered id is no id')
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return
    }
    checkOne(value)
    const taken: Parameters<typeof takeBody>[0] = { body: '' }
    refusal(() => takeBody(taken, value, SMALL, { load: new Load() }))
    claim((taken.size ?? 0) <= text.length, 'a parsed body is larger than its text')
    claim(taken.size === undefined || taken.parsed === value, 'a parsed body is taken, but not kept')
    if (!Array.isArray(value)) return
    for (const member of value) checkOne(member)
    const refused = refusal(() => checkBatch(value, DIALECTS['2025-03-26'], 4))
    claim(
      refused !== undefined || (value.length > 0 && value.length <= 4),
      'a batch of the wrong size is taken',
    )
  },
})

function checkOne(value: unknown): void {
  const error = refusal(() => readMessage(value))
  claim(
    (error === undefined) === isMessage(value),
    error === undefined ? 'no message, but taken' : 'a message, but refused',
  )
  const id = error === undefined ? undefined : readableId(error)
  claim(id === undefined || Object.is(id, (value as { id?: unknown }).id), 'a refusal names another id')
}

function refusal(work: () => unknown): McpError | undefined {
  try {
    work()
    return undefined
  } catch (thrown) {
    if (thrown instanceof McpError) return thrown
    throw thrown
  }
}
