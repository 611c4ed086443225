import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Revision } from '../../src/protocol/revisions.ts'

/** What the official schema of a revision says; each check gives the first complaint or undefined. */
export interface Official {
  /** Checks a whole request or notification. */
  message(method: string, message: JsonObject): string | undefined
  /** Checks the result of a method. */
  result(method: string, result: JsonObject): string | undefined
  /** Checks one shape by its official name. With `closed` no member may be unknown to the revision. */
  shape(name: string, value: unknown, closed?: 'closed'): string | undefined
}

/** The official schema of a revision, or undefined, said once, where the schemas are not beside the repository. */
export function officialOf(revision: Revision): Official | undefined {
  const file = fileURLToPath(new URL(`../../../shared/spec/${revision}/schema.json`, import.meta.url))
  if (existsSync(file)) return toOfficial(JSON.parse(readFileSync(file, 'utf8')) as Schema)
  if (!told)
    console.warn('The official schemas are not beside the repository: checks against them did not run.')
  told = true
  return undefined
}

let told = false

type Definitions = Readonly<Record<string, JsonObject>>
type Schema = JsonObject & { readonly $defs?: Definitions; readonly definitions?: Definitions }

function toOfficial(schema: Schema): Official {
  const definitions = schema.$defs ?? schema.definitions ?? {}
  const methods = new Map(
    Object.entries(definitions).map(([name, definition]) => [methodOf(definition), name]),
  )
  const open = checker(schema)
  const closed = checker(close(schema))
  return {
    message: (method, message) => open(methods.get(method) ?? kindOf(method, message), message),
    result: (method, result) => {
      const name = methods.get(method)?.replace(/Request$/, 'Result') ?? ''
      return open(name in definitions ? name : 'EmptyResult', result)
    },
    shape: (name, value, mode) => (mode === 'closed' ? closed : open)(name, value),
  }
}

/** Of what an extension says, the protocol knows only whether it is asked or told. */
function kindOf(method: string, message: JsonObject): string {
  if (!/^(?:notifications\/)?[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+\/./.test(method))
    return `a message for ${method}`
  return 'id' in message ? 'JSONRPCRequest' : 'JSONRPCNotification'
}

function methodOf(definition: JsonObject): unknown {
  const properties = definition['properties'] as Readonly<Record<string, JsonObject>> | undefined
  return properties?.['method']?.['const']
}

function checker(schema: Schema): (name: string, value: unknown) => string | undefined {
  const key = schema.$defs === undefined ? 'definitions' : '$defs'
  const options = { strict: false, validateFormats: false } as const
  const ajv = schema.$defs === undefined ? new Ajv(options) : new Ajv2020(options)
  ajv.addSchema(schema, 'official')
  return (name, value) => {
    const validate = ajv.getSchema(`official#/${key}/${name}`)
    if (validate === undefined) return `the revision has no ${name}`
    return validate(value) === true ? undefined : `${name}: ${ajv.errorsText(validate.errors)}`
  }
}

/** Metadata, capabilities and whole results stay open: the protocol lets anything travel there. */
const OPEN = /Meta|Capabilities$|^Result$|^Task$/

function close(schema: Schema): Schema {
  const key = schema.$defs === undefined ? 'definitions' : '$defs'
  const closed = Object.entries(schema[key] ?? {}).map(([name, definition]) => {
    const closable = definition['type'] === 'object' && 'properties' in definition && !OPEN.test(name)
    return [name, closable ? { additionalProperties: false, ...definition } : definition]
  })
  return { ...schema, [key]: Object.fromEntries(closed) }
}
