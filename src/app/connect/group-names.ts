import { warnOf, type Client } from '../../client/client.ts'
import type { ModelNames } from '../../client/model-names.ts'
import type { CallOptions } from '../../client/options.ts'
import { ANSWER_TOO_LARGE } from '../../errors/client.ts'
import { McpError } from '../../errors/error.ts'
import { clip } from '../../base/clip.ts'
import { Turns } from '../../base/next-task.ts'
import type { Prompt, Tool } from '../../protocol/spec/2026-07-28.ts'
import type { Joined } from './joined.ts'

/** How long a list that was too large is not read again to find a name, in milliseconds. */
const REMEMBERED_MS = 10_000

/** A list of a server of a group. */
export interface NamedList {
  readonly kind: 'tools' | 'prompts'
  readonly server: string
  readonly client: Client
}

/** The tools and prompts of the servers of a group, by their names in it. */
export class GroupNames {
  readonly #names: ModelNames
  readonly #joined: Joined
  /** The items with changed names, as far as they were listed: for each list, by name. */
  readonly #listed = new Map<string, ReadonlyMap<string, string>>()
  /** The lists that were too large to find a name in, and until when they count as that. */
  readonly #tooLarge = new Map<string, { readonly error: McpError; readonly until: number }>()

  constructor(names: ModelNames, joined: Joined) {
    this.#names = names
    this.#joined = joined
  }

  /** Lists the tools or prompts of a server by their names. */
  async list(list: NamedList, options: CallOptions): Promise<ReadonlyMap<string, Tool | Prompt>> {
    const { kind, server, client } = list
    const items: readonly (Tool | Prompt)[] = await client[kind](options).toArray()
    const key = keyOf(list)
    const before = this.#listed.get(key)
    const known = new Set<string>()
    const turns = new Turns()
    for (const { name } of before === undefined ? [] : items) {
      if (turns.isOver()) await turns.next()
      known.add(name)
    }
    const named = new Map<string, Tool | Prompt>()
    const changed = new Map<string, string>()
    for (const item of items) {
      if (turns.isOver()) await turns.next()
      const name = this.#names.nameOf(server, item.name)
      // A name goes on meaning the same item, as long as the server has it.
      const owner = before?.get(name)
      const isTaken = named.has(name) || (owner !== undefined && owner !== item.name && known.has(owner))
      if (isTaken) warnOfName(list, item.name)
      else named.set(name, item)
      if (!isTaken && this.#isChanged(name)) changed.set(name, item.name)
    }
    this.#listed.set(key, changed)
    this.#tooLarge.delete(key)
    return named
  }

  /** The name on its server of an item whose name was changed, for which the list may have to be read. */
  async itemOf(list: NamedList, name: string, left: () => CallOptions): Promise<string> {
    const key = keyOf(list)
    if (this.#listed.get(key)?.has(name) !== true) await this.#readNames(list, left)
    // The server rejects a name that it does not have.
    return this.#listed.get(key)?.get(name) ?? name
  }

  async #readNames(list: NamedList, left: () => CallOptions): Promise<void> {
    const { headers, auth, meta } = left()
    // Another user may have other tools.
    if ((headers ?? auth ?? meta) !== undefined) return this.#readChanged(list, left())
    const key = keyOf(list)
    const before = this.#tooLarge.get(key)
    if (before !== undefined && performance.now() < before.until) throw before.error
    const { error } = await this.#joined.read(key, [], left, (_, options) => this.#readChanged(list, options))
    if (error === undefined) return
    if (error instanceof McpError && error.kind === ANSWER_TOO_LARGE.kind)
      this.#tooLarge.set(key, { error, until: performance.now() + REMEMBERED_MS })
    throw error
  }

  /** Reads the changed names of a list, and keeps nothing else of it. */
  async #readChanged(list: NamedList, { onProgress: _, ...options }: CallOptions): Promise<void> {
    const { kind, server, client } = list
    const key = keyOf(list)
    const before = this.#listed.get(key)
    const changed = new Map<string, string>()
    for await (const item of client[kind](options)) {
      const name = this.#names.nameOf(server, item.name)
      const isOwner = before?.get(name) === item.name
      if (this.#isChanged(name) && (isOwner || !changed.has(name))) changed.set(name, item.name)
    }
    this.#listed.set(key, changed)
  }

  #isChanged(name: string): boolean {
    return this.#names.read(name)?.item === undefined
  }
}

function keyOf({ kind, server }: NamedList): string {
  return `${kind} ${server}`
}

function warnOfName({ kind, server, client }: NamedList, item: string): void {
  const text = `left out "${clip(item, 128)}" of the ${kind} of "${server}", because another one has the same name`
  warnOf(client, text)
}
