import { isObject } from './keywords.ts'
import type { Outcome, Run } from './memory.ts'
import type { StandardSchema } from './schema.ts'
import type { Use } from './shown.ts'
import { rootOf } from './valibot-texts.ts'

type Getter = (input: unknown) => unknown

/** A schema of valibot. */
export interface ValibotPart extends StandardSchema {
  readonly kind: string
  readonly type: string
  readonly pipe?: readonly ValibotPart[]
  readonly getter?: Getter
  readonly entries?: object
  readonly item?: unknown
  readonly wrapped?: unknown
  readonly options?: readonly unknown[]
  readonly default?: unknown
  readonly fallback?: unknown
  readonly reference: (first: unknown) => { '~run': Run } & StandardSchema
  readonly '~run': Run
}

type Part = ValibotPart

/** The options of valibot that a pipe obeys. */
interface Config {
  readonly abortEarly?: boolean
  readonly abortPipeEarly?: boolean
}

/** What is changed in a copy. */
export interface ValibotChanges {
  /** Changes how a schema runs. The copy may still be changed, too. One that is closed keeps other schemas where no copy of it has them. */
  readonly change: (run: Run, part: ValibotPart, made: Record<string, unknown>, isClosed: boolean) => Run
  /** Changes how the whole begins. */
  readonly begin: (run: Run) => Run
  /** Whether closed schemas may be inside. */
  readonly copiesClosed: boolean
}

/** A copy of a schema of valibot whose schemas run otherwise; undefined if somebody has wrapped it. */
export function copyValibot(
  schema: StandardSchema,
  use: Use,
  { change, begin, copiesClosed }: ValibotChanges,
): StandardSchema | undefined {
  const root: unknown = rootOf(schema, use)
  if (!isPart(root) || root['~standard'].validate !== schema['~standard'].validate) return undefined
  const parts = valibotParts(root)
  if (!copiesClosed && parts.some(isClosed)) return undefined
  const known = new WeakMap<object, Part>()
  /** What getters that do not look at the part have returned during a check: they often make new schemas each time. */
  const targets = new Map<Getter, unknown>()
  const copied = copy(root)
  // Only valibot knows its configuration, so one of its own schemas begins.
  const first = parts.find((part) => firstOf(part) !== undefined)
  const made = first?.reference(firstOf(first))
  if (made !== undefined)
    made['~run'] = begin((part, config) => (targets.clear(), copied['~run'](part, config)))
  return made

  function copy(part: Part): Part {
    const isLazy = part.getter !== undefined && part.pipe === undefined
    const seen = known.get(part) ?? (isLazy ? known.get(part.getter) : undefined)
    if (seen !== undefined) return seen
    const made: Record<string, unknown> = { ...part }
    known.set(isLazy ? part.getter : part, made as never)
    let run = part['~run'].bind(made as never)
    const isOpaque = copiesClosed && isClosed(part)
    if (!isOpaque) {
      if (isLazy) made['getter'] = targetOf.bind(undefined, part.getter)
      else for (const [key, member] of Object.entries(part)) made[key] = copyIn(key, member)
      if (part.pipe !== undefined) run = runAll(made['pipe'] as readonly Part[])
    }
    made['~run'] = change(run, part, made, isOpaque)
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

/** Whether a schema keeps others where no copy of it has them. */
function isClosed(part: Part): boolean {
  const isOpen = (part.pipe === undefined ? READS : LOOPS).test(String(part['~run']))
  return (
    !isOpen && (part.getter !== undefined || Object.values(part).some((each) => partsOf(each).length > 0))
  )
}

/** All schemas in one. */
export function valibotParts(root: ValibotPart): readonly ValibotPart[] {
  const all = new Set<Part>([root])
  const getters = new Set<unknown>()
  for (const part of all) {
    const { getter } = part
    const inside = Object.values(part).flatMap(partsOf)
    // It may make a new schema each time.
    if (getter !== undefined && !getters.has(getter)) inside.push(...partsOf(getter(undefined)))
    getters.add(getter)
    for (const each of inside) all.add(each)
  }
  return [...all]
}

/** What valibot makes another schema of the same kind from. */
function firstOf({ getter, entries, item, wrapped }: Part): unknown {
  return getter ?? entries ?? item ?? wrapped
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

export function isPart(value: unknown): value is Part {
  return (
    isObject(value) &&
    value['kind'] === 'schema' &&
    value['async'] !== true &&
    typeof value['~run'] === 'function'
  )
}
