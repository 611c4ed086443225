import { McpError } from '../../../src/errors/error.ts'
import type { JsonObject } from '../../../src/protocol/jsonrpc.ts'
import { META } from '../../../src/protocol/meta.ts'
import { REVISIONS, type Revision } from '../../../src/protocol/revisions.ts'
import { DIALECTS } from '../../../src/protocol/switches.ts'
import { encodeText } from '../../../src/wire/2026-07-28/encode.ts'
import { decodeResult } from '../../../src/wire/2026-07-28/decode-result.ts'
import { loweringFor, lowerNotification, lowerRequest, lowerResult } from '../../../src/wire/lower.ts'
import { decodeAnswer } from '../../../src/wire/encode.ts'
import { corpus, type Example } from '../../corpus/corpus.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { spell } from '../json-text.ts'
import { mutateValue } from '../mutate.ts'
import type { Random } from '../random.ts'
import { anyText, plainNumber, plainValue } from '../values.ts'

interface Input {
  readonly example: Example
  readonly revision: Revision
  /** What a client might answer when it is asked the question. */
  readonly answer: JsonObject
}

const EXAMPLES = corpus('2026-07-28')
const ANSWERS: readonly JsonObject[] = [
  { action: 'accept', content: { ship: 'Dorothea', crew: 3, 'cargo.coal': true, 'cargo.tea': false } },
  { action: 'decline' },
  { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' },
  { roots: [{ uri: 'file:///srv' }] },
]
const INFO = JSON.stringify({ name: 'fuzz', version: '1' })

/** Every message takes the form of every revision without being changed itself, twice is as good as once, and any answer can be opened. */
export const lowerTarget: Target = target<Input>({
  name: 'lower',
  share: 5,
  make(random) {
    const example = random.pick(EXAMPLES)
    const value = random.oneIn(4) ? example.value : (vary(example.value, random) as JsonObject)
    return { example: { ...example, value }, revision: random.pick(REVISIONS), answer: answerOf(random) }
  },
  check({ example, revision, answer }) {
    const { kind, method, value } = example
    const before = JSON.stringify(value)
    const lower = { request: lowerRequest, notification: lowerNotification, result: lowerResult }[kind]
    const lowering = loweringFor(revision)
    const lowered = lower(method, value, lowering)
    claim(JSON.stringify(value) === before, 'lowering changes what it is given')
    const text = JSON.stringify(lowered)
    claim(JSON.stringify(lower(method, lowered, lowering)) === text, 'lowering twice is not lowering once')
    if (kind === 'result') checkSealed(value)
    if (kind === 'request' && method === 'elicitation/create') checkAnswer(answer, value, revision)
  },
})

function checkSealed(value: JsonObject): void {
  for (const cached of [true, false]) {
    const text = encodeText(value, INFO, cached)
    const sealed = JSON.parse(text) as JsonObject
    claim(JSON.stringify(sealed).length === text.length, 'a sealed result says something twice')
    claim(
      sealed['resultType'] !== undefined && (sealed['_meta'] as JsonObject)[META.serverInfo] !== undefined,
      'a sealed result lacks its seal',
    )
    const { ttlMs: _1, cacheScope: _2, ...opened } = decodeResult(sealed)
    const {
      ttlMs: _3,
      cacheScope: _4,
      ...plain
    } = decodeResult(JSON.parse(JSON.stringify(value)) as JsonObject)
    claim(canonical(opened) === canonical(plain), 'a sealed result opens as another')
  }
}

function checkAnswer(answer: JsonObject, asked: JsonObject, revision: Revision): void {
  try {
    decodeAnswer('elicitation/create', answer, asked, DIALECTS[revision])
  } catch (thrown) {
    if (!(thrown instanceof McpError)) throw thrown
  }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1))
      : each,
  )
}

/** The value with other texts and numbers, and further members: still of the same types. */
function vary(value: unknown, random: Random, within: string = ''): unknown {
  if (Array.isArray(value)) {
    const varied = value.map((each) => vary(each, random))
    return random.oneIn(8) && varied.length > 0 ? [...varied, varied[0]] : varied
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([key, each]) => [key, FIXED.has(key) ? each : vary(each, random, key)] as const,
    )
    const more =
      within !== 'properties' && random.oneIn(20)
        ? [[`x-${anyText(random)}`, plainValue(random, 1)] as const]
        : []
    return Object.fromEntries([...entries, ...more])
  }
  if (typeof value === 'number' && random.oneIn(3)) return plainNumber(random)
  if (typeof value === 'boolean' && random.oneIn(3)) return !value
  return typeof value === 'string' && random.oneIn(6) ? anyText(random) : value
}

/** Members whose text says what the rest is. */
const FIXED: ReadonlySet<string> = new Set([
  'type',
  'mode',
  'role',
  'action',
  'resultType',
  'enum',
  'const',
  'required',
  '_meta',
  '$ref',
  'method',
])

function answerOf(random: Random): JsonObject {
  try {
    const answer: unknown = JSON.parse(spell(mutateValue(random.pick(ANSWERS), random), random))
    return typeof answer === 'object' && answer !== null && !Array.isArray(answer)
      ? (answer as JsonObject)
      : {}
  } catch {
    return {}
  }
}
