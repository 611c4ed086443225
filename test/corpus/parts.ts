import type { NamedShapes, Shape } from './shape.ts'

/** Parts shorter than this are written where they are used. */
const SHORT = 120

/** Takes out of shapes what occurs in several places, names it after the first place, and writes it once. */
export function withParts(shapes: NamedShapes): {
  readonly shapes: NamedShapes
  readonly parts: NamedShapes
} {
  const uses = new Map<string, number>()
  for (const shape of Object.values(shapes)) count(shape, uses)
  const names = new Map<string, string>()
  const parts: Record<string, Shape> = {}
  const replaced = (shape: Shape, near: string): Shape => {
    const text = JSON.stringify(shape)
    if (typeof shape === 'string' || (uses.get(text) ?? 0) < 2 || text.length < SHORT)
      return inside(shape, near)
    const found = names.get(text)
    if (found !== undefined) return `@${found}`
    const name = freeName(near, parts)
    names.set(text, name)
    parts[name] = 'unseen'
    parts[name] = inside(shape, near)
    return `@${name}`
  }
  const inside = (shape: Shape, near: string): Shape => {
    if (typeof shape === 'string') return shape
    const members = Object.entries(shape).map(([name, member]) => {
      const place = /^(?:\[\]|\||\*)$/.test(name) ? near : name.replace('?', '')
      const list = name === '|' ? (member as readonly Shape[]).map((one) => replaced(one, near)) : undefined
      return [name, list ?? replaced(member as Shape, place)]
    })
    return Object.fromEntries(members) as Shape
  }
  const rest = Object.entries(shapes).map(([name, shape]) => [name, replaced(shape, name)])
  return { shapes: Object.fromEntries(rest) as NamedShapes, parts }
}

function count(shape: Shape | readonly Shape[], uses: Map<string, number>): void {
  if (typeof shape === 'string') return
  const text = JSON.stringify(shape)
  const before = uses.get(text) ?? 0
  uses.set(text, before + 1)
  if (before === 0) for (const member of Object.values(shape)) count(member as Shape, uses)
}

function freeName(near: string, taken: object): string {
  let name = near
  for (let number = 2; name in taken; number++) name = `${near}-${number}`
  return name
}
