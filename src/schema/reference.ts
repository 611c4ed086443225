import { entriesOf, isObject, KEYWORDS, subschemasOf } from './keywords.ts'

/** Finds the target of a local reference; undefined if the reference is not local or its target does not exist. */
export type Resolve = (reference: string) => unknown

/** Resolves the references of a schema that does not change. Each is looked up once, however often it is followed. */
export function toResolver(root: unknown): Resolve {
  const targets = new Map<string, unknown>()
  let anchors: ReadonlyMap<unknown, unknown> | undefined
  return (reference) => {
    if (!targets.has(reference)) targets.set(reference, find(reference))
    return targets.get(reference)
  }

  function find(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined
    const fragment = decode(reference.slice(1))
    if (fragment === undefined) return undefined
    if (fragment === '') return root
    if (fragment.startsWith('/')) return followPointer(root, fragment)
    return (anchors ??= anchorsOf(root)).get(fragment)
  }
}

/** The target of a single local reference. */
export function resolveLocal(root: unknown, reference: string): unknown {
  return toResolver(root)(reference)
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return undefined
  }
}

function followPointer(root: unknown, pointer: string): unknown {
  let place = root
  for (const token of pointer.slice(1).split('/')) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) return undefined
    place = (place as Record<string, unknown>)[name]
  }
  return place
}

/** The schemas that have an anchor; of several with the same, the first. */
function anchorsOf(root: unknown): ReadonlyMap<unknown, unknown> {
  const anchors = new Map<unknown, unknown>()
  collect(root)
  return anchors

  function collect(schema: unknown): void {
    if (!isObject(schema)) return
    for (const name of [schema['$anchor'], schema['$dynamicAnchor']])
      if (!anchors.has(name)) anchors.set(name, schema)
    for (const [keyword, value] of entriesOf(schema)) {
      const row = KEYWORDS.get(keyword)
      if (row === undefined || value === undefined) continue
      for (const [, sub] of subschemasOf(row.shape, value)) collect(sub)
    }
  }
}
