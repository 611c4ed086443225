import type { Run } from './memory.ts'
import { isZod, type ZodSchema } from './merges.ts'
import type { StandardSchema } from './schema.ts'

/** What zod knows of a schema. */
export interface ZodInner {
  readonly def: Readonly<Record<string, unknown>> & ZodSchema['_zod']['def']
  readonly constr: new (def: object) => ZodSchema & StandardSchema
  readonly version?: { readonly minor?: number }
  readonly innerType?: unknown
  parse: Run
  run: Run
}

/** A copy of a schema of zod in which `change` has changed how the schemas run, and `begin` how the whole begins; undefined if somebody has wrapped it. */
export function copyZod(
  schema: StandardSchema,
  change: (run: Run, inner: ZodInner) => Run,
  begin: (run: Run) => Run,
): StandardSchema | undefined {
  if (!isZod(schema) || !Object.hasOwn(schema, '_zod') || !(schema instanceof innerOf(schema).constr))
    return undefined
  const known = new Map<unknown, ZodSchema & StandardSchema>()
  const open = new Set<unknown>()
  const root = copy(schema)
  innerOf(root).run = begin(innerOf(root).run)
  return root

  function copy(part: ZodSchema): ZodSchema & StandardSchema {
    const seen = known.get(part)
    if (seen !== undefined) return seen
    if (open.has(part)) throw new Circle()
    open.add(part)
    const { def, innerType, constr } = innerOf(part)
    let made
    try {
      made = new constr(toDef(def, innerType))
    } finally {
      open.delete(part)
    }
    known.set(part, made)
    const inner = innerOf(made)
    const { run, parse } = inner
    // Zod replaces what parses a schema when it first does.
    inner.run = change(run === parse ? (...args) => inner.parse(...args) : run, inner)
    return made
  }

  function toDef(of: ZodInner['def'], innerType: unknown): object {
    const def: object = {}
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(of))) {
      const { value } = property
      if (key === 'shape') define(def, key, { value: copyShape(of['shape'] as object) })
      else if (key === 'getter') define(def, key, { value: () => copyAny(innerType) })
      else if (key === 'checks') define(def, key, { value: (value as unknown[] | undefined)?.map(copyCheck) })
      else if (Array.isArray(value)) define(def, key, { value: value.map(copyAny) })
      // What a lazy schema has returned is copied when the copy is asked.
      else if (key !== '_cachedInner') define(def, key, isZod(value) ? { value: copy(value) } : property)
    }
    return def
  }

  /** A schema contains itself in members of objects and behind functions, so these are copied when they are needed. */
  function copyShape(shape: object): object {
    const made: object = {}
    for (const key of Reflect.ownKeys(shape)) {
      const part: unknown = Reflect.get(shape, key)
      try {
        define(made, key, { value: copyAny(part) })
      } catch (thrown) {
        if (!(thrown instanceof Circle)) throw thrown
        define(made, key, { get: once(() => copyAny(part)) })
      }
    }
    return made
  }

  function copyAny(part: unknown): unknown {
    return isZod(part) ? copy(part) : part
  }

  /** Checks of properties have schemas. */
  function copyCheck(check: unknown): unknown {
    return isZod(check) && String(innerOf(check).def['check']).startsWith('propert') ? copy(check) : check
  }
}

/** Whether zod remembers results itself, which it does since 4.5. In zod/mini, that is an option. */
export function remembersItself(schema: StandardSchema): boolean {
  const { __zod_globalConfig: config } = globalThis as {
    readonly __zod_globalConfig?: { memoizer?: unknown }
  }
  return isZod(schema) && (innerOf(schema).version?.minor ?? 0) >= 5 && config?.memoizer !== undefined
}

/** A schema contains itself. */
class Circle extends Error {}

function innerOf(schema: ZodSchema): ZodInner {
  return schema._zod as unknown as ZodInner
}

function define(def: object, key: PropertyKey, property: PropertyDescriptor): void {
  Object.defineProperty(def, key, { ...property, configurable: true, enumerable: true })
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}
