import { Ajv2020 } from 'ajv/dist/2020.js'
import { toCheck } from '../../../src/client/checking.ts'
import type { JsonObject } from '../../../src/protocol/jsonrpc.ts'
import { toChecker } from '../../../src/schema/checker.ts'
import { toFormSchema } from '../../../src/schema/form.ts'
import { SchemaError } from '../../../src/schema/schema-error.ts'
import { loweringFor, lowerResult } from '../../../src/wire/lower.ts'
import { paramHeadersOf } from '../../../src/wire/param-headers.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { spell } from '../json-text.ts'
import { mutateValue } from '../mutate.ts'
import { anySchema, rootSchema, valueFor } from '../schemas.ts'

interface Input {
  /** As JSON text, which may not be valid. */
  readonly schema: string
  readonly value: unknown
  readonly sound: boolean
}

/** Any schema is taken or refused with a reason, by servers and clients; one that takes an older form still admits what it admitted. */
export const inspectTarget: Target = target<Input>({
  name: 'inspect',
  share: 0.2,
  make(random) {
    const schema = random.oneIn(2) ? rootSchema(random) : anySchema(random)
    const sound = random.oneIn(3)
    const value = valueFor(schema, random)
    return {
      schema: sound ? JSON.stringify(schema) : spell(mutateValue(schema, random), random),
      value,
      sound,
    }
  },
  async check({ schema: text, value, sound }) {
    const schema = parsed(text)
    if (schema === undefined) return
    refusal(() => paramHeadersOf(schema))
    const refused = refusal(() => toChecker(schema, 'output'))
    refusal(() => toFormSchema(schema))
    const theirs = await toCheck(schema, 'output')(value)
    claim(typeof theirs.ok === 'boolean', 'a client does not come to a verdict')
    if (refused !== undefined) return
    const ours = await toChecker(schema, 'output').check(value)
    claim(ours.ok || ours.issue !== '', 'a refusal gives no reason')
    if (sound && ours.ok) checkLowered(schema, value)
  },
})

/** What fits a schema fits its older form, after it took that form itself. */
function checkLowered(schema: JsonObject, value: unknown): void {
  const lowering = loweringFor('2025-11-25')
  const listed = { tools: [{ name: 'x', inputSchema: { type: 'object' }, outputSchema: schema }] }
  const [tool] = lowerResult('tools/list', listed, lowering)['tools'] as [
    { readonly outputSchema: JsonObject },
  ]
  const { structuredContent } = lowerResult('tools/call', { content: [], structuredContent: value }, lowering)
  const { outputSchema } = tool
  claim(outputSchema['type'] === 'object', 'an older form is not about objects')
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    ownProperties: true,
    multipleOfPrecision: 9,
    logger: false,
  })
  const fits = JSON.stringify(schema).includes('"__proto__"') || ajv.compile(outputSchema)(structuredContent)
  claim(
    fits,
    `the older form does not admit ${JSON.stringify(structuredContent)}: ${JSON.stringify(outputSchema)}`,
  )
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined
  } catch {
    return undefined
  }
}

function refusal(work: () => unknown): SchemaError | undefined {
  try {
    work()
    return undefined
  } catch (thrown) {
    if (thrown instanceof SchemaError) return thrown
    throw thrown
  }
}
