import { ToolError, type ToolMap } from 'pierhead'
import { z } from 'zod'
import { pure } from '../pure.ts'

const JSON_TEXT = z
  .string()
  .max(100_000)
  .meta({ examples: ['{"ship":{"name":"Nele","crew":["Ann","Ben"]}}'] })
const POINTER = z
  .string()
  .max(1000)
  .meta({ description: 'A JSON pointer, such as /crew/0.', examples: ['/ship/name'] })

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new ToolError(`The text is not JSON: ${(error as Error).message}`)
  }
}

/** The parts of a JSON pointer (RFC 6901). */
function partsOf(pointer: string): string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/')) throw new ToolError('A pointer is empty or begins with a slash.')
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const has = (value: unknown, part: string): value is Record<string, unknown> =>
  isContainer(value) && Object.hasOwn(value, part) && (!Array.isArray(value) || /^\d+$/.test(part))

/** Every value that contains no others, with its pointer; also empty objects and lists. */
function* leaves(value: unknown, path: string = ''): Generator<readonly [path: string, value: string]> {
  const members = isContainer(value) ? Object.entries(value) : []
  if (members.length === 0) yield [path, JSON.stringify(value)]
  for (const [name, member] of members)
    yield* leaves(member, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isContainer(value)) return value
  const names = Object.keys(value).toSorted()
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]))
}

function replaced(value: unknown, [part, ...rest]: readonly string[], by: unknown): unknown {
  if (part === undefined) return by
  const isEnd = rest.length === 0
  if (Array.isArray(value)) {
    const at = part === '-' ? value.length : Number(part)
    if (!/^(?:-|\d+)$/.test(part) || at > value.length || (at === value.length && !isEnd))
      throw new ToolError(`The list has no place ${part}.`)
    return value.toSpliced(at, 1, replaced(value[at], rest, by))
  }
  if (!isContainer(value) || (!isEnd && !Object.hasOwn(value, part)))
    throw new ToolError(`There is nothing at ${part}.`)
  return { ...value, [part]: replaced(value[part], rest, by) }
}

export const json: ToolMap = {
  json_check: pure(
    'Says whether a text is JSON, and if not, what is wrong.',
    { text: JSON_TEXT },
    { valid: z.boolean(), problem: z.string().optional() },
    ({ text }) => {
      try {
        JSON.parse(text)
        return { valid: true }
      } catch (error) {
        return { valid: false, problem: (error as Error).message }
      }
    },
  ),
  json_format: pure(
    'Indents JSON for people.',
    { text: JSON_TEXT, indent: z.int().min(1).max(8).default(2) },
    { text: z.string() },
    ({ text, indent }) => ({ text: JSON.stringify(parsed(text), undefined, indent) }),
  ),
  json_minify: pure(
    'Removes the white space of JSON, and says how many characters that saves.',
    { text: JSON_TEXT },
    { text: z.string(), saved: z.int() },
    ({ text }) => {
      const short = JSON.stringify(parsed(text))
      return { text: short, saved: text.length - short.length }
    },
  ),
  json_get: pure(
    'Reads one value of a JSON document.',
    { text: JSON_TEXT, pointer: POINTER },
    { found: z.boolean(), value: z.unknown().optional() },
    ({ text, pointer }) => {
      let value = parsed(text)
      for (const part of partsOf(pointer)) {
        if (!has(value, part)) return { found: false }
        value = value[part]
      }
      return { found: true, value }
    },
  ),
  json_set: pure(
    'Sets one value of a JSON document; "-" as the last part of the pointer appends to a list.',
    {
      text: JSON_TEXT,
      pointer: POINTER,
      value: z
        .string()
        .max(10_000)
        .meta({ examples: ['"Marie"'] }),
    },
    { text: z.string() },
    ({ text, pointer, value }) => ({
      text: JSON.stringify(replaced(parsed(text), partsOf(pointer), parsed(value))),
    }),
  ),
  json_diff: pure(
    'Compares two JSON documents: the pointers of added, removed and changed values.',
    { before: JSON_TEXT, after: JSON_TEXT },
    { added: z.array(z.string()), removed: z.array(z.string()), changed: z.array(z.string()) },
    ({ before, after }) => {
      const [old, fresh] = [new Map(leaves(parsed(before))), new Map(leaves(parsed(after)))]
      return {
        added: [...fresh.keys()].filter((path) => !old.has(path)),
        removed: [...old.keys()].filter((path) => !fresh.has(path)),
        changed: [...old]
          .filter(([path, value]) => (fresh.get(path) ?? value) !== value)
          .map(([path]) => path),
      }
    },
  ),
  json_paths: pure(
    'Lists the pointers of all values in a JSON document that contain no others.',
    { text: JSON_TEXT },
    { paths: z.array(z.string()) },
    ({ text }) => ({ paths: [...leaves(parsed(text))].map(([path]) => path) }),
  ),
  json_sort: pure(
    'Sorts the members of all objects by name, so that equal documents have equal texts.',
    { text: JSON_TEXT },
    { text: z.string() },
    ({ text }) => ({ text: JSON.stringify(sorted(parsed(text))) }),
  ),
}
