import type { NodeStore } from '../rpc/node-store.ts'
import type {
  EvictedSession,
  FieldChanges,
  NewSession,
  SessionFields,
  SessionRoom,
  SessionStore,
  StoredSession,
} from '../rpc/session-store.ts'
import type { RedisLink } from './redis-link.ts'
import { originalText, storedText } from './stored-text.ts'
import { lateMs, lifeMs, wholeMs } from './times.ts'
import { type SessionUse, USES_WAIT_MS, UsesTogether } from './uses-together.ts'

const TAG = 'sessions'

/**
 * Keeps sessions in Redis. Each is a hash on the node of the cluster that its id belongs to. An index of all sessions, elsewhere, knows
 * which one to evict; it hears of uses somewhat more than a second late.
 */
export class RedisSessionStore implements SessionStore {
  readonly nodes: NodeStore
  readonly #link: RedisLink
  /** The keys of the index, and the beginning of those of owners. */
  readonly #index: readonly string[]
  readonly #owners: string
  /** Uses that the index does not know of yet. */
  readonly #uses = new UsesTogether((uses) => this.#noteUses(uses))

  constructor(link: RedisLink, nodes: NodeStore) {
    this.nodes = nodes
    this.#link = link
    this.#index = ['ends', 'owners', 'owner'].map((name) => link.key(TAG, `:${name}`))
    this.#owners = link.key(TAG, ':of:')
  }

  async create(
    { id, countedFor, fields, idleMs }: NewSession,
    { sessions, freshMs }: SessionRoom,
  ): Promise<'created' | 'full' | EvictedSession> {
    const [key, name, owner] = [this.#key(id), storedText(id), storedText(countedFor)]
    const life = lifeMs(idleMs)
    const pairs = [...fields].flatMap(([field, text]) => [storedText(field), storedText(text)])
    // A use may have been noted late.
    const fresh = freshMs > 0 ? wholeMs(freshMs + lateMs(Infinity) + USES_WAIT_MS) : 0
    this.#uses.noteNow()
    // Both are sent at once, and Redis does them in this order: a session that is in the index exists.
    const [, reply] = await Promise.all([
      this.#link.run('pierheadSessionCreate', [key], [owner, wholeMs(idleMs), life, ...pairs]),
      this.#run('pierheadIndexAdmit', name, owner, life, sessions, fresh),
    ])
    const answer = String(reply)
    if (answer === 'created') return answer
    const evicted = originalText(answer.slice(1))
    await this.#link.call(['DEL', answer === 'full' ? key : this.#key(evicted)])
    return answer === 'full' ? answer : { evicted }
  }

  async use(
    id: string,
    known: number | undefined,
    idleMs: number,
    expected: FieldChanges = new Map(),
  ): Promise<StoredSession | undefined> {
    const life = lifeMs(idleMs)
    const texts = [...expected].flatMap(([name, text]) => [
      storedText(name),
      text === null ? '' : `=${storedText(text)}`,
    ])
    const values = [known ?? '', wholeMs(idleMs), life, lateMs(idleMs), ...texts]
    const reply = await this.#link.run('pierheadSessionUse', [this.#key(id)], values)
    if (!Array.isArray(reply)) return undefined
    const [version, owner, fields, changes] = reply as readonly unknown[]
    if (typeof owner === 'string') this.#uses.add({ id: storedText(id), owner, life })
    return {
      version: Number(version),
      fields: Array.isArray(fields) ? fieldsIn(fields) : undefined,
      ...(Array.isArray(changes) && { changes: changesIn(changes) }),
    }
  }

  async change(id: string, fields: FieldChanges): Promise<number | undefined> {
    const removed: string[] = []
    const pairs: string[] = []
    for (const [name, text] of fields) {
      if (text === null) removed.push(storedText(name))
      else pairs.push(storedText(name), storedText(text))
    }
    const values = [removed.length, ...removed, ...pairs]
    const version = await this.#link.run('pierheadSessionChange', [this.#key(id)], values)
    return version === null ? undefined : Number(version)
  }

  async end(id: string): Promise<boolean> {
    const [wasThere] = await Promise.all([
      // If the answer is lost, it was this step that ended the session.
      this.#link.step(async (client, isRepeated) => {
        const count = await client.call('DEL', this.#key(id))
        return isRepeated || Number(count) === 1
      }),
      this.#run('pierheadIndexEnd', storedText(id)),
    ])
    return wasThere === true
  }

  async count(): Promise<number> {
    return Number(await this.#link.run('pierheadIndexCount', this.#index.slice(0, 1), []))
  }

  /** Notes uses in the index. One that it did not have may be of a session whose end it has heard of before. */
  async #noteUses(uses: readonly SessionUse[]): Promise<void> {
    const values = uses.flatMap(({ id, owner, life }) => [id, owner, life])
    const missing = await this.#run('pierheadIndexUse', ...values)
    for (const id of missing as readonly string[]) {
      if ((await this.#link.call(['EXISTS', this.#keyOf(id)])) !== 1) await this.#run('pierheadIndexEnd', id)
    }
  }

  #key(id: string): string {
    return this.#keyOf(storedText(id))
  }

  #keyOf(stored: string): string {
    return this.#link.key(`s:${stored}`, '')
  }

  #run(
    name: 'pierheadIndexAdmit' | 'pierheadIndexUse' | 'pierheadIndexEnd',
    ...values: readonly (string | number)[]
  ): Promise<unknown> {
    return this.#link.run(name, this.#index, [this.#owners, ...values])
  }
}

/** Names and texts in turn; a field that was removed has no text. */
function changesIn(list: readonly unknown[]): FieldChanges {
  const changes = new Map<string, string | null>()
  for (let index = 0; index < list.length; index += 2) {
    const text = list[index + 1]
    changes.set(originalText(String(list[index])), typeof text === 'string' ? originalText(text) : null)
  }
  return changes
}

/** The fields in a hash, where their names follow a mark. */
function fieldsIn(hash: readonly unknown[]): SessionFields {
  const fields = new Map<string, string>()
  for (let index = 0; index < hash.length; index += 2) {
    const name = String(hash[index])
    if (name.startsWith('=')) fields.set(originalText(name.slice(1)), originalText(String(hash[index + 1])))
  }
  return fields
}
