import { mcpError } from '../errors/error.ts'
import { BAD_CURSOR, CURSOR_EXPIRED, CURSOR_TOO_LONG } from '../errors/server.ts'
import type { Limits } from '../protocol/limits.ts'
import { callOf, type Context } from './context.ts'

export type ListName = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

/** The position of an entry in a list: that of its item, and among the entries of one item its number, counted from 1. */
export interface Position {
  readonly place: number
  /** 0 for an item that is its own only entry. */
  readonly nth: number
}

const START: Position = { place: 0, nth: 0 }

/** Time is divided into periods, so that pages can be cached within one: a cursor is valid in its period and the next. */
export function ageOf({ cursorMs }: Limits): number {
  return Math.floor(Date.now() / cursorMs)
}

/** A cursor contains the list and the position of the last entry, so that it survives changes to the list. */
export function writeCursor(name: ListName, { place, nth }: Position, age: number): string {
  const parts = [name, nth === 0 ? place : `${place}.${nth}`, ...(age === 0 ? [] : [age])]
  return btoa(parts.join(':')).replace(/=+$/, '')
}

/** The position after which the requested page begins. */
export function readCursor(name: ListName, context: Context, limits: Limits): Position {
  const { cursorLength } = limits
  const { cursor } = context.params
  if (cursor === undefined || cursor === null) return START
  if (typeof cursor !== 'string') throw mcpError(BAD_CURSOR, {})
  if (cursor.length > cursorLength) throw mcpError(CURSOR_TOO_LONG, { limit: cursorLength })
  if (cursor === '' && callOf(context).peer.dialect.emptyCursor === 'absent') return START
  const position = toPosition(name, cursor, limits)
  if (position === undefined) throw mcpError(BAD_CURSOR, {})
  return position
}

const NUMBER = '([1-9][0-9]{0,14})'

/** The position in a cursor; undefined unless this list wrote it. Only resources are listed several at a position. */
export function toPosition(name: ListName, cursor: string, limits: Limits): Position | undefined {
  const nths = name === 'resources' ? `(?:\\.${NUMBER})?` : '()'
  const found = new RegExp(`^${name}:${NUMBER}${nths}(?::${NUMBER})?$`).exec(decode(cursor))
  const [place, nth, age] = [1, 2, 3].map((at) => Number(found?.[at] ?? 0)) as [number, number, number]
  const now = ageOf(limits)
  if (found === null || age > now + 1 || writeCursor(name, { place, nth }, age) !== cursor) return undefined
  if (nth > limits.listed) return undefined
  if (age < now - 1) throw mcpError(CURSOR_EXPIRED, { ms: limits.cursorMs })
  return { place, nth }
}

function decode(cursor: string): string {
  try {
    return atob(cursor)
  } catch {
    return ''
  }
}
