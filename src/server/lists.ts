import { asSent } from '../base/as-sent.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_CURSOR } from '../errors/server.ts'
import type { Limits } from '../protocol/limits.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'
import { ageOf, readCursor, toPosition, writeCursor, type ListName } from './cursors.ts'
import type { Item } from './definitions.ts'
import { isVisible, mayKnow, mayUse } from './visibility.ts'

export interface ListOptions {
  readonly pageSize: number
  readonly ttlMs: number
  readonly limits: Limits
  /** The key of items that might be taken for each other. Default: there are none. */
  readonly loosely?: (key: string) => string
}

/**
 * One list of a server, served page by page. A page stays the same object until something changes, so that its text is
 * encoded once. Callers who see different items get separate pages.
 */
export class List<Kind extends Item> {
  /** The items that callers can use, in the order of their places. */
  readonly items: Map<string, Kind> = new Map<string, Kind>()
  /** All items as they were registered; those that are not in `items` are disabled. */
  readonly registered: Map<string, Kind> = new Map<string, Kind>()
  /** The keys of all items, by what items that might be taken for each other have in common. */
  readonly #alike = new Map<string, readonly string[]>()
  readonly #name: ListName
  readonly #options: ListOptions
  /** Changes an item before it is added. */
  transform: (item: Kind) => Kind = (item) => item
  /** Grows whenever an item changes. */
  version = 0
  #guarded: readonly Kind[] | undefined
  #pages = new Map<string, Result>()
  /** The keys of pages that follow a cached one. */
  #following = new Set<string>()
  #keptAge = 0
  /** The size of the cached pages that only some callers see: how many there are depends on callers. */
  #keptChars = 0

  constructor(name: ListName, options: ListOptions) {
    this.#name = name
    this.#options = options
  }

  add(item: Kind): void {
    const loose = this.#options.loosely?.(item.key)
    if (loose !== undefined && !this.registered.has(item.key))
      this.#alike.set(loose, [...this.alike(loose), item.key])
    this.registered.set(item.key, item)
    this.items.set(item.key, this.transform(item))
    this.drop()
  }

  /** Replaces an item by another with the same key and place. If it was disabled, it stays so. */
  replace(item: Kind): void {
    this.registered.set(item.key, item)
    this.refresh(item.key)
  }

  /** Transforms an item anew, if it is not disabled. */
  refresh(key: string): void {
    const item = this.registered.get(key)
    if (item === undefined || !this.items.has(key)) return
    this.items.set(key, this.transform(item))
    this.drop()
  }

  /** Changes every item, those that exist and those to come. */
  transformAll(change: (item: Kind) => Kind): void {
    const { transform } = this
    this.transform = (item) => change(transform(item))
    for (const item of this.items.values()) this.items.set(item.key, change(item))
    this.drop()
  }

  remove(key: string): boolean {
    this.items.delete(key)
    const removed = this.registered.delete(key)
    if (!removed) return false
    const loose = this.#options.loosely?.(key)
    if (loose !== undefined)
      this.#alike.set(
        loose,
        this.alike(loose).filter((one) => one !== key),
      )
    if (loose !== undefined && this.alike(loose).length === 0) this.#alike.delete(loose)
    this.drop()
    return true
  }

  /** The keys of all items, disabled or not, that have this in common. */
  alike(loose: string): readonly string[] {
    return this.#alike.get(loose) ?? []
  }

  /** Makes an item unknown to callers. Returns whether they knew it. */
  disable(key: string): boolean {
    const disabled = this.items.delete(key)
    if (disabled) this.drop()
    return disabled
  }

  /** Puts a disabled item back into its place. Returns whether it was disabled. */
  enable(key: string): boolean {
    const item = this.registered.get(key)
    if (item === undefined || this.items.has(key)) return false
    const later = [...this.items.values()].filter(({ place }) => place > item.place)
    for (const one of later) this.items.delete(one.key)
    for (const one of [this.transform(item), ...later]) this.items.set(one.key, one)
    this.drop()
    return true
  }

  /** The item that a caller wants to use; undefined if there is none, or if it is hidden. Throws if the caller lacks scopes. */
  find(key: string, context: Context): Kind | undefined {
    const item = this.items.get(key)
    return item !== undefined && mayUse(item, context) ? item : undefined
  }

  /** Whether the caller may know of an item, even if it is not there at the moment. */
  isKnownTo(context: Context, key: string): boolean {
    const item = this.items.get(key)
    return item !== undefined && mayKnow(item, context)
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
    const { place: start } = readCursor(this.#name, context, this.#options.limits)
    if (wrapped) return this.#copy(this.#make(start, true, context))
    const view = this.#view(context)
    const key = `${start}:${view}`
    const kept = this.#pages.get(key)
    if (kept !== undefined) return kept
    const page = this.#make(start, view !== '', context)
    if (start === 0 || this.#following.has(key)) this.#keep(key, page, view)
    return page
  }

  /** A page that middleware may change. Members of items that JSON leaves out stay. */
  #copy(page: Result): Result {
    const items = page[this.#name] as readonly JsonObject[]
    const copies = items.map((item) => ({ ...item, ...asSent(item) }))
    return { ...asSent({ ...page, [this.#name]: [] }), [this.#name]: copies }
  }

  /** Caches the first page and pages that follow a cached one, because cursors could start a page anywhere. */
  #keep(key: string, page: Result, view: string): void {
    const chars = view === '' ? 0 : charsIn(page[this.#name] as readonly JsonObject[])
    if (this.#pages.size >= MAX_KEPT_PAGES || this.#keptChars + chars > MAX_KEPT_CHARS) this.#forgetPages()
    this.#keptChars += chars
    this.#pages.set(key, Object.freeze(page))
    const { nextCursor } = page
    if (typeof nextCursor === 'string')
      this.#following.add(`${toPosition(this.#name, nextCursor, this.#options.limits)?.place}:${view}`)
  }

  /** Identifies the set of items that a caller sees: one character for each item with restricted visibility. */
  #view(context: Context): string {
    this.#guarded ??= [...this.items.values()].filter(
      ({ visible, isThere }) => visible !== undefined || isThere !== undefined,
    )
    let view = ''
    for (const item of this.#guarded) view += isVisible(item, context) ? '1' : '0'
    return view
  }

  #make(start: number, isPrivate: boolean, context: Context): Result {
    const seen = [...this.items.values()].filter((item) => item.place >= start && isVisible(item, context))
    // Items that the caller does not see must not decide, or cursors would reveal them.
    if (start > 0 && seen.length === 0) throw mcpError(BAD_CURSOR, {})
    const rest = seen[0]?.place === start ? seen.slice(1) : seen
    const shown = rest.slice(0, this.#options.pageSize)
    const last = shown.at(-1)
    const more = last !== undefined && rest.length > shown.length
    return {
      [this.#name]: shown.map((item) => item.descriptor),
      ...(more ? { nextCursor: writeCursor(this.#name, { place: last.place, nth: 0 }, this.#age()) } : {}),
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

  /** Drops the cached pages. */
  drop(): void {
    this.version++
    this.#guarded = undefined
    this.#forgetPages()
  }

  #forgetPages(): void {
    this.#pages = new Map()
    this.#following = new Set()
    this.#keptChars = 0
  }
}

const MAX_KEPT_PAGES = 256

/** Each revision in use keeps a text of its own for a page, and the bytes of it. */
const MAX_KEPT_CHARS = 2 ** 22

const lengths = new WeakMap<JsonObject, number>()

/** The number of characters that items take as JSON. Pages share their items, so each is measured once. */
function charsIn(items: readonly JsonObject[]): number {
  let chars = 0
  for (const item of items) {
    let length = lengths.get(item)
    if (length === undefined) lengths.set(item, (length = JSON.stringify(item).length))
    chars += length
  }
  return chars
}
