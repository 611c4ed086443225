import { isDuration, toMs } from '../base/duration.ts'
import type { Flags } from './command.ts'
import { wrongUsage } from './failure.ts'

/** The value of an option that is a whole number; undefined if it was not given. */
export function countOf(
  flags: Flags,
  name: string,
  most: number = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const text = flags.text(name)
  if (text === undefined) return undefined
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= most) return count
  const range = most === Number.MAX_SAFE_INTEGER ? 'from 1' : `from 1 to ${most}`
  throw wrongUsage(`--${name} must be a whole number ${range}, not "${text}"`, `Write --${name} 5.`)
}

/** The value of an option that is a time, in milliseconds; undefined if it was not given. */
export function timeOf(flags: Flags, name: string): number | undefined {
  const text = flags.text(name)
  if (text === undefined) return undefined
  const isTime: boolean = isDuration(text)
  if (isTime) return toMs(text, `--${name}`)
  throw wrongUsage(
    `--${name}: "${text}" is not a time`,
    `Write a number and its unit, such as --${name} 20s, 2m or 500ms.`,
  )
}

/** The characters of the name of a header, by RFC 9110. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** Headers from lines such as `X-Team: blue`. */
export function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':')
      if (at < 1)
        throw wrongUsage("a header is not of the form 'Name: value'", "Write --header 'X-Team: blue'.")
      const name = line.slice(0, at).trim()
      if (!HEADER_NAME.test(name))
        throw wrongUsage(
          'the name of a header has characters that no such name has, such as a space',
          "Write --header 'X-Team: blue'.",
        )
      return [name, line.slice(at + 1).trim()]
    }),
  )
}
