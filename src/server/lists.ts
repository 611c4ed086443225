import { asSent } from '../base/as-sent.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_CURSOR, CURSOR_EXPIRED, CURSOR_TOO_LONG } from '../errors/server.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Result } from '../rpc/dispatch.ts'
import { callOf, type Context } from './context.ts'
import type { Item } from './definitions.ts'
import { isVisible, mayUse } from './visibility.ts'

export type ListName = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

export interface ListOptions {
  readonly pageSize: number
  readonly ttlMs: number
  readonly limits: Limits
}

/**
 * One list of a server, served page by page. A page stays the same object until something changes, so that its text is
 * encoded once. Callers who see different items get separate pages.
 */
export class List<Kind extends Item> {
  readonly items: Map<string, Kind> = new Map<string, Kind>()
  readonly #name: ListName
  readonly #options: ListOptions
  /** Changes an item before it is added. */
  transform: (item: Kind) => Kind = (item) => item
  #guarded: readonly Kind[] | undefined
  #pages = new Map<string, Result>()
  /** The keys of pages that follow a cached one. */
  #following = new Set<string>()
  #keptAge = 0

  constructor(name: ListName, options: ListOptions) {
    this.#name = name
    this.#options = options
  }

  add(item: Kind): void {
    this.items.set(item.key, this.transform(item))
    this.#forget()
  }

  /** Changes every item, those that exist and those to come. */
  transformAll(change: (item: Kind) => Kind): void {
    const { transform } = this
    this.transform = (item) => change(transform(item))
    for (const item of this.items.values()) this.items.set(item.key, change(item))
    this.#forget()
  }

  remove(key: string): boolean {
    const removed = this.items.delete(key)
    if (removed) this.#forget()
    return removed
  }

  /** The item that a caller wants to use; undefined if there is none, or if it is hidden. Throws if the caller lacks scopes. */
  find(key: string, context: Context): Kind | undefined {
    const item = this.items.get(key)
    return item !== undefined && mayUse(item, context) ? item : undefined
  }

  /** The keys of the items that a caller sees. */
  seenBy(context: Context, most: number): string[] {
    const keys: string[] = []
    for (const item of this.items.values()) {
      if (keys.length === most) break
      if (isVisible(item, context)) keys.push(item.key)
    }
    return keys
  }

  /** Answers the list method for a caller; with `wrapped`, middleware may change the result, so it gets a copy. */
  page(context: Context, wrapped = false): Result {
    this.#age()
    const start = readCursor(this.#name, context, this.#options.limits)
    if (wrapped) return asSent(this.#make(start, true, context))
    const view = this.#view(context)
    const key = `${start}:${view}`
    const kept = this.#pages.get(key)
    if (kept !== undefined) return kept
    const page = this.#make(start, view !== '', context)
    if (start === 0 || this.#following.has(key)) this.#keep(key, page, view)
    return page
  }

  /** Caches the first page and pages that follow a cached one, because cursors could start a page anywhere. */
  #keep(key: string, page: Result, view: string): void {
    if (this.#pages.size >= MAX_KEPT_PAGES) this.#forgetPages()
    this.#pages.set(key, Object.freeze(page))
    const { nextCursor } = page
    if (typeof nextCursor === 'string')
      this.#following.add(`${toPlace(this.#name, nextCursor, this.#options.limits)}:${view}`)
  }

  /** Identifies the set of items that a caller sees: one character for each item with restricted visibility. */
  #view(context: Context): string {
    this.#guarded ??= [...this.items.values()].filter((item) => item.visible !== undefined)
    let view = ''
    for (const item of this.#guarded) view += isVisible(item, context) ? '1' : '0'
    return view
  }

  #make(start: number, isPrivate: boolean, context: Context): Result {
    const rest = [...this.items.values()].filter((item) => item.place > start && isVisible(item, context))
    if (start > 0 && ![...this.items.values()].some((item) => item.place >= start))
      throw mcpError(BAD_CURSOR, {})
    const shown = rest.slice(0, this.#options.pageSize)
    const last = shown.at(-1)
    const more = last !== undefined && rest.length > shown.length
    return {
      [this.#name]: shown.map((item) => item.descriptor),
      ...(more ? { nextCursor: writeCursor(this.#name, last.place, this.#age()) } : {}),
      ttlMs: this.#options.ttlMs,
      cacheScope: isPrivate ? 'private' : 'public',
    }
  }

  /** The current period for cursors. Cached pages are discarded when it changes. */
  #age(): number {
    const age = ageOf(this.#options.limits)
    if (age !== this.#keptAge) this.#forgetPages()
    this.#keptAge = age
    return age
  }

  #forget(): void {
    this.#guarded = undefined
    this.#forgetPages()
  }

  #forgetPages(): void {
    this.#pages = new Map()
    this.#following = new Set()
  }
}

const MAX_KEPT_PAGES = 256

/** Time is divided into periods, so that pages can be cached within one: a cursor is valid in its period and the next. */
function ageOf({ cursorMs }: Limits): number {
  return Math.floor(Date.now() / cursorMs)
}

/** A cursor contains the list and the position of the last item, so that it survives changes to the list. */
function writeCursor(name: ListName, place: number, age: number): string {
  return btoa(age === 0 ? `${name}:${place}` : `${name}:${place}:${age}`).replace(/=+$/, '')
}

function readCursor(name: ListName, context: Context, limits: Limits): number {
  const { cursorLength } = limits
  const { cursor } = context.params
  if (cursor === undefined || cursor === null) return 0
  if (typeof cursor !== 'string') throw mcpError(BAD_CURSOR, {})
  if (cursor.length > cursorLength) throw mcpError(CURSOR_TOO_LONG, { limit: cursorLength })
  if (cursor === '' && callOf(context).peer.dialect.emptyCursor === 'absent') return 0
  const place = toPlace(name, cursor, limits)
  if (place === undefined) throw mcpError(BAD_CURSOR, {})
  return place
}

function toPlace(name: ListName, cursor: string, limits: Limits): number | undefined {
  const found = new RegExp(`^${name}:([1-9][0-9]{0,14})(?::([1-9][0-9]{0,14}))?$`).exec(decode(cursor))
  const [place, age] = [Number(found?.[1]), Number(found?.[2] ?? 0)]
  const now = ageOf(limits)
  if (found === null || age > now + 1 || writeCursor(name, place, age) !== cursor) return undefined
  if (age < now - 1) throw mcpError(CURSOR_EXPIRED, { ms: limits.cursorMs })
  return place
}

function decode(cursor: string): string {
  try {
    return atob(cursor)
  } catch {
    return ''
  }
}
