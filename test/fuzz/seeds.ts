import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { corpus, toWire } from '../corpus/corpus.ts'
import { spell } from './json-text.ts'
import { mutateBytes, mutateText, mutateValue } from './mutate.ts'
import type { Random } from './random.ts'
import { anyText, anyValue, Members, Raw } from './values.ts'

/** One example of every message of every revision, in both directions. */
export const MESSAGES: readonly JsonObject[] = REVISIONS.flatMap((revision) =>
  corpus(revision).map((example) => toWire(example, revision)),
)

/** The text of a message: valid, changed in its parts or in its letters, or noise. */
export function messageText(random: Random, messages: readonly JsonObject[] = MESSAGES): string {
  if (random.oneIn(40)) return random.oneIn(2) ? anyText(random, 200) : spell(anyValue(random, 5), random)
  const text = spell(anyMessage(random, messages), random)
  return random.oneIn(6) ? mutateText(text, random) : text
}

/** The bytes of a message, at times not UTF-8. */
export function messageBytes(random: Random, messages: readonly JsonObject[] = MESSAGES): Uint8Array {
  const bytes = encoder.encode(messageText(random, messages))
  return random.oneIn(5) ? mutateBytes(bytes, random) : bytes
}

const encoder = new TextEncoder()

function anyMessage(random: Random, messages: readonly JsonObject[]): unknown {
  if (random.oneIn(8)) return random.list(6, () => oneMessage(random, messages))
  return oneMessage(random, messages)
}

function oneMessage(random: Random, messages: readonly JsonObject[]): unknown {
  const message = random.pick(messages)
  const named = random.oneIn(5) ? withId(message, random) : message
  if (random.oneIn(4)) return named
  // What is wrong with the outermost members is found at once: most changes go deeper.
  const part = ['params', 'result'].find((name) => name in message)
  if (part === undefined || random.oneIn(4)) return mutateValue(named, random)
  const pairs = Object.entries(message).map(
    ([key, value]) => [key, key === part ? mutateValue(value, random) : value] as const,
  )
  return new Members(pairs)
}

const IDS: readonly (() => unknown)[] = [
  '99999999999999999999',
  '-9007199254740993',
  '1e2',
  '1.0',
  '-0',
  '12345678901234567',
  '9'.repeat(1025),
  'null',
].map((text) => () => new Raw(text))

function withId(message: JsonObject, random: Random): unknown {
  const id = random.oneIn(2) ? random.pick(IDS)() : anyText(random)
  const pairs = Object.entries(message).map(([key, value]) => [key, key === 'id' ? id : value] as const)
  return new Members(pairs)
}
