import { Memory, type Run } from './memory.ts'
import { isZod, type ZodSchema } from './merges.ts'
import type { StandardSchema } from './schema.ts'

interface Inner {
  readonly def: Readonly<Record<string, unknown>> & { readonly type: string }
  readonly constr: new (def: object) => ZodSchema & StandardSchema
  readonly version?: { readonly minor?: number }
  readonly innerType?: unknown
  run: Run
}

/** A copy of a schema of zod that remembers what unions and intersections have made of a part; the schema itself if zod does, which it has since 4.5. */
export function rememberingZod(schema: StandardSchema): StandardSchema | undefined {
  if (!isZod(schema)) return undefined
  const { version, constr } = innerOf(schema)
  if ((version?.minor ?? 0) >= 5 && hasMemoizer()) return schema
  // Somebody may have wrapped it.
  if (!Object.hasOwn(schema, '_zod') || !(schema instanceof constr)) return undefined
  const memory = new Memory()
  const known = new Map<unknown, ZodSchema & StandardSchema>()
  const root = copy(schema)
  innerOf(root).run = memory.from(innerOf(root).run)
  return root

  function copy(part: ZodSchema): ZodSchema & StandardSchema {
    const seen = known.get(part)
    if (seen !== undefined) return seen
    const inner = innerOf(part)
    const made = new inner.constr(toDef(inner))
    known.set(part, made)
    const { type } = inner.def
    if (type === 'union' || type === 'intersection') innerOf(made).run = memory.once(innerOf(made).run)
    return made
  }

  /** A schema contains itself in members of objects and behind functions, so these are copied when they are needed. */
  function toDef(inner: Inner): object {
    const def = Object.defineProperties({}, Object.getOwnPropertyDescriptors(inner.def))
    for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(inner.def)))
      if (key === 'shape') define(def, key, { get: once(() => copyAll(inner.def['shape'] as object)) })
      else if (key === 'getter') define(def, key, { value: () => copyAny(inner.innerType) })
      else if (Array.isArray(value) && key !== 'checks') define(def, key, { value: value.map(copyAny) })
      else if (isZod(value)) define(def, key, { value: copy(value) })
    return def
  }

  function copyAll(shape: object): object {
    return Object.fromEntries(Object.entries(shape).map(([name, each]) => [name, copyAny(each)]))
  }

  function copyAny(part: unknown): unknown {
    return isZod(part) ? copy(part) : part
  }
}

function innerOf(schema: ZodSchema): Inner {
  return schema._zod as unknown as Inner
}

/** Whether zod remembers results. In zod/mini, that is an option. */
function hasMemoizer(): boolean {
  const { __zod_globalConfig: config } = globalThis as {
    readonly __zod_globalConfig?: { memoizer?: unknown }
  }
  return config?.memoizer !== undefined
}

function define(def: object, key: string, property: PropertyDescriptor): void {
  Object.defineProperty(def, key, { ...property, configurable: true, enumerable: true })
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}
