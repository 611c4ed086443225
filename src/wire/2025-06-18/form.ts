import { isObject } from '../../protocol/jsonrpc.ts'
import type {
  BooleanField,
  ElicitFormParams,
  ElicitRequestParams,
  ElicitResult,
  FormField,
  FormSchema,
  MultiSelectField,
  TitledOption,
} from '../../protocol/spec/2026-07-28.ts'
import { change, omit } from '../reshape.ts'

/** Lowers a form to the field types of 2025-06-18. Requests to visit a URL stay unchanged, since they cannot be sent. */
export function lowerForm(params: ElicitRequestParams): ElicitRequestParams {
  if (params.mode === 'url') return params
  return change(omit(params, 'mode', 'task'), 'requestedSchema', lowerSchema)
}

/** Converts the answer to a lowered form into an answer to the original form. */
export function raiseAnswer(answer: ElicitResult, asked: ElicitRequestParams): ElicitResult {
  if (asked.mode === 'url' || !isObject(answer.content)) return answer
  const choices = choicesOf(asked)
  if (choices.length === 0) return answer
  const content = new Map(Object.entries(answer.content))
  for (const { name, options } of choices) {
    const given = options.some((option) => content.has(option.property))
    const chosen = options
      .filter((option) => content.get(option.property) === true)
      .map((option) => option.value)
    for (const option of options) content.delete(option.property)
    if (given || asked.requestedSchema.required?.includes(name) === true) content.set(name, chosen)
  }
  return { ...answer, content: Object.fromEntries(content) }
}

function lowerSchema(schema: FormSchema): FormSchema {
  const choices = new Map(choicesIn(schema).map((choice) => [choice.name, choice]))
  const entries = Object.entries(schema.properties).flatMap(([name, field]) => {
    const choice = choices.get(name)
    return choice === undefined ? [[name, lowerField(field)] as const] : toBooleans(choice)
  })
  const same = choices.size === 0 && entries.every(([name, field]) => schema.properties[name] === field)
  const plain = omit(schema, '$schema')
  if (same) return plain
  const required = schema.required?.filter((name) => !choices.has(name))
  return {
    ...plain,
    properties: Object.fromEntries(entries),
    ...(required === undefined ? {} : { required }),
  }
}

function lowerField(field: FormField): FormField {
  if (field.type === 'boolean') return field
  const plain = omit(field, 'default')
  if (!('oneOf' in plain)) return plain
  const { oneOf, ...rest } = plain
  return {
    ...rest,
    enum: oneOf.map((option) => option.const),
    enumNames: oneOf.map((option) => option.title),
  }
}

/** A multiple choice, with the name of the boolean that represents each option. */
interface Choice {
  readonly name: string
  readonly field: MultiSelectField
  readonly options: readonly { readonly value: string; readonly title: string; readonly property: string }[]
}

function choicesOf(asked: ElicitFormParams): readonly Choice[] {
  return choicesIn(asked.requestedSchema)
}

function choicesIn(schema: FormSchema): readonly Choice[] {
  const taken = new Set(Object.keys(schema.properties))
  return Object.entries(schema.properties).flatMap(([name, field]) => {
    if (field.type !== 'array') return []
    const options = optionsOf(field).map((option) => {
      let property = `${name}.${option.const}`
      while (taken.has(property)) property += '_'
      taken.add(property)
      return { value: option.const, title: option.title, property }
    })
    return [{ name, field, options }]
  })
}

function optionsOf({ items }: MultiSelectField): readonly TitledOption[] {
  return 'anyOf' in items ? items.anyOf : items.enum.map((value) => ({ const: value, title: value }))
}

function toBooleans({ name, field, options }: Choice): (readonly [string, BooleanField])[] {
  const description = [field.description, boundsOf(field)].filter((part) => part !== undefined).join(' ')
  return options.map(({ value, title, property }) => [
    property,
    {
      type: 'boolean',
      title: `${field.title ?? name}: ${title}`,
      ...(description === '' ? {} : { description }),
      default: field.default?.includes(value) ?? false,
    },
  ])
}

function boundsOf({ minItems, maxItems }: MultiSelectField): string | undefined {
  if (minItems === undefined && maxItems === undefined) return undefined
  if (maxItems === undefined) return `Choose at least ${minItems}.`
  return minItems === undefined ? `Choose at most ${maxItems}.` : `Choose ${minItems} to ${maxItems}.`
}
