import { isObject } from './keywords.ts'
import { Memory, type Outcome, type Run } from './memory.ts'
import type { StandardSchema } from './schema.ts'
import type { Use } from './shown.ts'
import { rootOf } from './valibot-texts.ts'

type Getter = (input: unknown) => unknown

interface Part extends StandardSchema {
  readonly kind: string
  readonly pipe?: readonly Part[]
  readonly getter?: Getter
  readonly reference: (getter: () => object) => StandardSchema
  readonly '~run': Run
}

/** The options of valibot that a pipe obeys. */
interface Config {
  readonly abortEarly?: boolean
  readonly abortPipeEarly?: boolean
}

/** A copy of a schema of valibot that remembers what `lazy` schemas have made of a part; undefined if somebody has wrapped it. */
export function rememberingValibot(schema: StandardSchema, use: Use): StandardSchema | undefined {
  const root: unknown = rootOf(schema, use)
  if (!isPart(root) || root['~standard'].validate !== schema['~standard'].validate || isClosed(root))
    return undefined
  const memory = new Memory()
  const known = new WeakMap<object, Part>()
  /** What getters that do not look at the part have returned during a check: they often make new schemas each time. */
  const targets = new Map<Getter, unknown>()
  let lazy: Part | undefined
  const copied = copy(root)
  const run = memory.from((part, config) => (targets.clear(), copied['~run'](part, config)))
  // Only valibot knows its configuration, so one of its own schemas begins.
  return lazy?.reference(() => ({ ...copied, '~run': run }))

  function copy(part: Part): Part {
    const isLazy = part.getter !== undefined && part.pipe === undefined
    const seen = known.get(part) ?? (isLazy ? known.get(part.getter) : undefined)
    if (seen !== undefined) return seen
    const made: Record<string, unknown> = { ...part }
    known.set(isLazy ? part.getter : part, made as never)
    if (isLazy) {
      lazy ??= part
      made['getter'] = targetOf.bind(undefined, part.getter)
      made['~run'] = memory.once(part['~run'].bind(made))
      return made as never
    }
    for (const [key, member] of Object.entries(part)) made[key] = copyIn(key, member)
    if (part.pipe !== undefined) made['~run'] = runAll(made['pipe'] as readonly Part[])
    return made as never
  }

  function targetOf(getter: Getter, input: unknown): unknown {
    if (getter.length > 0) return copyIn('', getter(input))
    if (!targets.has(getter)) targets.set(getter, copyIn('', getter(input)))
    return targets.get(getter)
  }

  function copyIn(key: string, member: unknown): unknown {
    if (isPart(member)) return copy(member)
    if (Array.isArray(member)) return member.map((each: unknown) => (isPart(each) ? copy(each) : each))
    if (key !== 'entries' || !isObject(member)) return member
    return Object.fromEntries(Object.entries(member).map(([name, each]) => [name, copyIn('', each)]))
  }
}

/** What is around a schema, such as a fallback, has the members of that schema but does not read them, so a copy would have the original inside. A pipe has a loop. */
const READS = /\bthis\.(?:entries|getter|item|items|key|options|rest|value|wrapped)\b/
const LOOPS = /\bfor\b/

/** Whether a schema, or one in it, keeps others where no copy of it has them. */
function isClosed(root: Part): boolean {
  const all = new Set<Part>([root])
  const getters = new Set<unknown>()
  for (const part of all) {
    const { pipe, getter } = part
    const inside = Object.values(part).flatMap(partsOf)
    const isOpen = (pipe === undefined ? READS : LOOPS).test(String(part['~run']))
    if (!isOpen && (inside.length > 0 || getter !== undefined)) return true
    // It may make a new schema each time.
    if (getter !== undefined && !getters.has(getter)) inside.push(...partsOf(getter(undefined)))
    getters.add(getter)
    for (const each of inside) all.add(each)
  }
  return false
}

function partsOf(member: unknown): Part[] {
  if (isPart(member)) return [member]
  return typeof member === 'object' && member !== null ? Object.values(member).filter(isPart) : []
}

/** Does what valibot does with a pipe, whose parts it does not let us exchange. */
function runAll(items: readonly Part[]): Run {
  return (part, config) => {
    const { abortEarly, abortPipeEarly }: Config = config
    let at = part as Outcome & { typed?: boolean }
    for (const item of items) {
      if (item.kind === 'metadata') continue
      if (at.issues !== undefined && item.kind !== 'validation') {
        at.typed = false
        break
      }
      if (at.issues === undefined || (abortEarly !== true && abortPipeEarly !== true))
        at = item['~run'](at, config) as Outcome
    }
    return at
  }
}

function isPart(value: unknown): value is Part {
  return (
    isObject(value) &&
    value['kind'] === 'schema' &&
    value['async'] !== true &&
    typeof value['~run'] === 'function'
  )
}
