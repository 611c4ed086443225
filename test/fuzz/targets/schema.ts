import { Ajv2020 } from 'ajv/dist/2020.js'
import { toChecker } from '../../../src/schema/checker.ts'
import { compile } from '../../../src/schema/compile.ts'
import { explain } from '../../../src/schema/explain.ts'
import { toLine } from '../../../src/schema/issue.ts'
import { SchemaError } from '../../../src/schema/schema-error.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { Random } from '../random.ts'
import { rootSchema, valueFor } from '../schemas.ts'

interface Input {
  readonly schema: Readonly<Record<string, unknown>>
  readonly value: unknown
}

type Test = (value: unknown) => boolean

/** So many values meet the same schema: compiling costs a thousand times what checking does. */
const VALUES = 80
let seed = 0
let known:
  | { readonly block: number; readonly schema: Input['schema']; readonly tests?: readonly Test[] }
  | undefined

/** A check gives the verdict that another validator gives. */
export const schemaTarget: Target = target<Input>({
  name: 'schema',
  share: 5,
  start(given) {
    seed = given
    known = undefined
  },
  make(random, index) {
    const block = Math.floor(index / VALUES)
    if (known?.block !== block) known = { block, schema: rootSchema(new Random(seed, 'a schema', block)) }
    return { schema: known.schema, value: valueFor(known.schema, random) }
  },
  async check({ schema, value }) {
    const tests = known?.schema === schema ? (known.tests ?? testsOf(schema)) : testsOf(schema)
    if (known?.schema === schema) known = { ...known, tests }
    if (tests.length === 0) return
    // The other validator stumbles over this name.
    const judges = JSON.stringify(value).includes('"__proto__"') ? tests.slice(1) : tests
    const expected = judges[0]!(value)
    for (const test of judges) claim(test(value) === expected, `${test.name} says ${!expected}`)
    const line = toLine(explain(schema, value))
    claim(line.length > 0 && line.length < 800 && !/[\r\n\0]/.test(line), `an odd explanation: ${line}`)
    const checked = await toChecker(schema, 'input').check(value)
    claim(checked.ok === expected, `the checker says ${!expected}`)
  },
})

/** Another validator and ours; nothing when we refuse the schema. */
function testsOf(schema: Input['schema']): readonly Test[] {
  try {
    toChecker(schema, 'input')
  } catch (thrown) {
    if (thrown instanceof SchemaError) return []
    throw thrown
  }
  const compiled = compile(schema)
  const theirs = JSON.stringify(schema).includes('"__proto__"') ? compiled : theirTest(schema)
  return [
    function another(value) {
      return theirs(value)
    },
    function compiledCheck(value) {
      return compiled(value)
    },
  ]
}

/** What another validator says; ours, where it is known to stumble over names that every object inherits. */
function theirTest(schema: Input['schema']): Test {
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    ownProperties: true,
    multipleOfPrecision: 9,
    logger: false,
  })
  const theirs = ajv.compile(schema)
  const ours = compile(schema)
  return (value) => {
    try {
      return theirs(value) as boolean
    } catch {
      return ours(value)
    }
  }
}
