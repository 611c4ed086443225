import { createHash } from 'node:crypto'
import type { Client } from 'pierhead/client'
import { jsonPieces } from './json-pieces.ts'

const LISTS = ['tools', 'prompts', 'resources'] as const

/** About how many characters are hashed at once. */
const PIECE = 65_536

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
      const digest = await this.#digest(list)
      this.#digests.set(list, digest)
      return digest === before
    } catch {
      this.#digests.delete(list)
      return false
    }
  }

  /** Reads a list item by item, and keeps none of them. */
  async #digest(list: List): Promise<string> {
    const digest = new Digest()
    for await (const item of this.#client[list]()) digest.add(item)
    if (list === 'resources') {
      digest.separate()
      for await (const item of this.#client.templates()) digest.add(item)
    }
    return digest.end()
  }
}

/** A digest of values. */
class Digest {
  readonly #hash = createHash('sha256')
  #text = ''

  add(value: unknown): void {
    for (const piece of jsonPieces(value)) this.#add(piece)
    this.separate()
  }

  /** Adds what is in no JSON. */
  separate(): void {
    this.#add('\n')
  }

  end(): string {
    return this.#hash.update(this.#text).digest('hex')
  }

  #add(piece: string): void {
    this.#text += piece
    if (this.#text.length < PIECE) return
    this.#hash.update(this.#text)
    this.#text = ''
  }
}
