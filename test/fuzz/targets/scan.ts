import type { Message } from '../../../src/protocol/jsonrpc.ts'
import { McpError } from '../../../src/errors/error.ts'
import { readText } from '../../../src/wire/read-text.ts'
import { isQuiet } from '../../../src/wire/quiet.ts'
import { scan } from '../../../src/wire/scan.ts'
import { hasTooMany } from '../../../src/wire/values.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { findingOf, sameFinding } from '../oracle.ts'
import { messageText } from '../seeds.ts'

const DEPTH = 128

/** Reading a text finds in it what a slow and plain reader finds, and never takes what JSON.parse refuses. */
export const scanTarget: Target = target<string>({
  name: 'scan',
  share: 25,
  make: (random) => messageText(random),
  check(text) {
    const found = scan(text, DEPTH)
    const quiet = isQuiet(text, DEPTH)
    const value = parsed(text)
    if (value === undefined)
      return claim(read(text) instanceof McpError, 'text that is not JSON is read as a message')
    const values = valuesOf(text)
    claim(
      hasTooMany(text, { values: values - 1, keys: Infinity, containers: Infinity }),
      `of ${values} values, some are not counted`,
    )
    const expected = findingOf(text, DEPTH)
    claim(sameFinding(found, expected), `scan finds ${found?.kind}, but there is ${expected?.kind}`)
    claim(!quiet || expected === undefined, `isQuiet misses ${expected?.kind}`)
    checkReading(read(text), value, expected)
  },
})

function checkReading(
  message: ReturnType<typeof read>,
  value: unknown,
  expected: ReturnType<typeof findingOf>,
): void {
  if (message instanceof McpError) return
  claim(expected === undefined || expected.kind === 'ids', `a message with a ${expected?.kind} is read`)
  const large = expected?.kind === 'ids' ? expected.ids : []
  const members = Array.isArray(value) ? value : [value]
  const readings = Array.isArray(message) ? (message as readonly unknown[]) : [message]
  claim(members.length === readings.length, 'the batch has another length')
  for (const [at, member] of members.entries()) {
    const reading = readings[at] as Message
    const { id, ...rest } = asObject(reading)
    const { id: parsedId, ...parsedRest } = asObject(member)
    claim(
      large[at] === undefined ? JSON.stringify(id) === JSON.stringify(parsedId) : id === large[at],
      'the id is not the one in the text',
    )
    claim(
      JSON.stringify(rest) === JSON.stringify(parsedRest),
      'the message differs from what JSON.parse gives',
    )
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : { value }
}

/** How many values JSON.parse makes of a text. */
function valuesOf(text: string): number {
  let count = 0
  JSON.parse(text, (_, value: unknown) => (count++, value))
  return count
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function read(text: string): Message | readonly unknown[] | McpError {
  try {
    return readText(text, { depth: DEPTH, values: Infinity, keys: Infinity, containers: Infinity })
  } catch (thrown) {
    if (thrown instanceof McpError) return thrown
    throw thrown
  }
}
