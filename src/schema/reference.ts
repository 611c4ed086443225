import { entriesOf, isObject, KEYWORDS, subschemasOf } from './keywords.ts'

/** The target of a local reference, or undefined if it is not local or does not exist. */
export function resolveLocal(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  const fragment = decode(reference.slice(1))
  if (fragment === undefined) return undefined
  if (fragment === '') return root
  return fragment.startsWith('/') ? followPointer(root, fragment) : findAnchor(root, fragment)
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

function findAnchor(schema: unknown, name: string): unknown {
  if (!isObject(schema)) return undefined
  if (schema['$anchor'] === name || schema['$dynamicAnchor'] === name) return schema
  for (const [keyword, value] of entriesOf(schema)) {
    const row = KEYWORDS.get(keyword)
    if (row === undefined || value === undefined) continue
    for (const [, sub] of subschemasOf(row.shape, value)) {
      const found = findAnchor(sub, name)
      if (found !== undefined) return found
    }
  }
  return undefined
}
