import { createHash } from 'node:crypto'
import type { Client } from 'pierhead/client'

const LISTS = ['tools', 'prompts', 'resources'] as const

type List = (typeof LISTS)[number]

/** The lists of a server as they were read last, to tell changes from announcements. */
export class KnownLists {
  readonly #client: Client
  readonly #digests = new Map<List, string>()

  private constructor(client: Client) {
    this.#client = client
  }

  /** Reads the lists that are watched. */
  static async read(client: Client, watched: Readonly<Partial<Record<List, unknown>>>): Promise<KnownLists> {
    const known = new KnownLists(client)
    for (const list of LISTS) if (watched[list] === true) await known.isSame(list)
    return known
  }

  /** Reads a list again. A list that cannot be read counts as another one. */
  async isSame(list: List): Promise<boolean> {
    const before = this.#digests.get(list)
    try {
      const items: unknown[] = [await this.#client[list]().toArray()]
      if (list === 'resources') items.push(await this.#client.templates().toArray())
      const digest = createHash('sha256').update(JSON.stringify(items)).digest('hex')
      this.#digests.set(list, digest)
      return digest === before
    } catch {
      this.#digests.delete(list)
      return false
    }
  }
}
