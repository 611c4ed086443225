import { isDeepStrictEqual } from 'node:util'
import { JsoncError, parseJsonc, type JsoncNode } from './jsonc.ts'

/**
 * Sets `text[section][name]` in a text of JSON with comments. Everything else stays as it is, with its comments and spaces. Throws if
 * the text cannot be changed in this way.
 */
export function withMember(text: string, section: string, name: string, value: unknown): string {
  const style = styleOf(text)
  const whole = text.trim() === '' ? '{}\n' : text
  const root = parseJsonc(whole)
  if (root.members === undefined) throw new JsoncError(whole, root.start, 'it is not an object')
  const parent = memberOf(root, section)
  const changed =
    parent === undefined
      ? inserted(whole, root, section, { [name]: value }, style, 1)
      : changedIn(whole, parent, name, value, style)
  const before = root.value as Record<string, unknown>
  const servers = { ...(before[section] as object | undefined), [name]: value }
  checkChange(changed, { ...before, [section]: servers })
  return changed
}

/**
 * Removes `text[section][name]` from a text of JSON with comments, and the section with it if that is then empty and `isSectionKept` is
 * false. Everything else stays as it is. Throws if the text cannot be changed in this way.
 */
export function withoutMember(text: string, section: string, name: string, isSectionKept: boolean): string {
  const root = parseJsonc(text)
  const before = root.value as Record<string, Record<string, unknown>>
  const { [name]: _, ...servers } = before[section] ?? {}
  const { [section]: __, ...others } = before
  const isWhole = !isSectionKept && Object.keys(servers).length === 0
  const parent = isWhole ? root : (memberOf(root, section) ?? root)
  const changed = removed(text, parent, isWhole ? section : name)
  checkChange(changed, isWhole ? others : { ...before, [section]: servers })
  return changed
}

/** Removes a member with its line, and the comma that would be left before the end of the object. */
function removed(text: string, { members = [] }: JsoncNode, name: string): string {
  const index = members.findLastIndex((one) => one.name === name)
  const member = members[index]
  if (member === undefined) return text
  const before = members[index - 1]
  const isLast = index === members.length - 1
  const comma = isLast && member.commaEnd === undefined ? before?.commaEnd : undefined
  const head = text.slice(0, member.start)
  const left = comma === undefined ? head : head.slice(0, comma - 1) + head.slice(comma)
  const right = text.slice(member.commaEnd ?? member.node.end)
  // A line of its own goes with it, but not a comment after it.
  const isOwnLine = /(?:^|\n)[\t ]*$/.test(left) && /^[\t ]*(?:\r?\n|[\t ]*\}|$)/.test(right)
  return isOwnLine ? left.replace(/\r?\n[\t ]*$/, '') + right : left + right.replace(/^[\t ]+(?=")/, '')
}

interface Style {
  /** One level of indentation. */
  readonly indent: string
  readonly eol: string
}

function styleOf(text: string): Style {
  const indent = /\n([\t ]+)(?=")/.exec(text)?.[1] ?? '  '
  return { indent: indent.startsWith('\t') ? '\t' : indent, eol: text.includes('\r\n') ? '\r\n' : '\n' }
}

/** The last member with a name counts, as in `JSON.parse`. */
function memberOf({ members = [] }: JsoncNode, name: string): JsoncNode | undefined {
  return members.findLast((member) => member.name === name)?.node
}

function changedIn(text: string, parent: JsoncNode, name: string, value: unknown, style: Style): string {
  if (parent.members === undefined)
    throw new JsoncError(text, parent.start, 'the servers are not an object with names')
  const old = memberOf(parent, name)
  if (old === undefined) return inserted(text, parent, name, value, style, 2)
  return text.slice(0, old.start) + jsonOf(value, style, 2) + text.slice(old.end)
}

/** Adds a member at the end of an object, at a level of indentation. */
function inserted(
  text: string,
  { start, end, members = [] }: JsoncNode,
  name: string,
  value: unknown,
  style: Style,
  level: number,
): string {
  const { eol, indent } = style
  const member = `${JSON.stringify(name)}: ${jsonOf(value, style, level)}`
  const close = end - 1
  const last = members.at(-1)
  // Comments before the brace stay before the new member.
  const body = text.slice(last?.node.end ?? start + 1, close).trimEnd()
  const comma = last === undefined || last.commaEnd !== undefined ? '' : ','
  const head = text.slice(0, last?.node.end ?? start + 1)
  return `${head}${comma}${body}${eol}${indent.repeat(level)}${member}${eol}${indent.repeat(level - 1)}${text.slice(close)}`
}

function jsonOf(value: unknown, { indent, eol }: Style, level: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll('\n', eol + indent.repeat(level))
}

/** Makes sure that nothing else changed: the settings of a user are at stake. */
function checkChange(text: string, expected: object): void {
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  if (isDeepStrictEqual(plain(parseJsonc(text).value), plain(expected))) return
  throw new Error('the change would damage the file, so nothing is written')
}
