import { mcpError } from '../errors/error.ts'
import { SQLITE_UNAVAILABLE } from '../errors/store.ts'
import { builtin } from './builtin.ts'
import { MARK, storedText } from './stored-text.ts'

const BLOCK = 16
const TIME = 6
/** The number of ids whose random bytes are made at once, because each request for some costs more than the bytes. */
const AT_ONCE = 64
/** The number of ids that are remembered, and of those before them: a task is looked up again and again while it runs. */
const REMEMBERED = 1000

const CIPHER = 'aes-128-ecb'
/** A key, or a block, as the file has it. */
const HEX = /^[0-9a-f]{32}$/
/** A block as clients see it. The last character has only two bits of it. */
const SHOWN = /^[\w-]{21}[AQgw]$/

/** The script that creates the key of a file, which never changes. */
export function keyScript(): string {
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(BLOCK))).toString('hex')
  return `
    CREATE TABLE pierhead_task_key (one INTEGER PRIMARY KEY, key TEXT NOT NULL);
    INSERT INTO pierhead_task_key VALUES (1, '${key}');
  `
}

/** What enciphers, or deciphers, with one key. */
interface BlockCipher {
  update(block: Uint8Array): Buffer
  final(): Buffer
}

/** The query of the key. */
export const SELECT_KEY = 'SELECT key FROM pierhead_task_key WHERE one = 1'

/**
 * The ids of tasks in a file. One is stored as its time and 80 random bits, so tasks that are created together are together in the
 * index. Clients see that block enciphered with the key of the file: without the key, nobody can tell it from 128 random bits. Other ids are stored as they are.
 */
export class TaskIds {
  /** Identifies the file. It tells nothing about the key. */
  readonly file: string
  readonly #encipher: (block: Uint8Array) => Buffer
  readonly #decipher: (block: Uint8Array) => Buffer
  #random = new Uint8Array(0)
  #used = 0
  /** Stored ids by those that clients see. */
  #recent = new Map<string, string>()
  #older: ReadonlyMap<string, string> = new Map()

  /** Undefined if the key is not one. */
  static of(key: unknown): TaskIds | undefined {
    return typeof key === 'string' && HEX.test(key) ? new TaskIds(Buffer.from(key, 'hex')) : undefined
  }

  private constructor(key: Uint8Array) {
    const node = builtin('node:crypto')
    if (node === undefined) throw mcpError(SQLITE_UNAVAILABLE, { reason: 'this runtime has no node:crypto' })
    this.file = node.createHash('sha256').update('file').update(key).digest('base64url')
    // An id is a single block, and no two are equal, so it needs no mode of operation.
    this.#encipher = blockwise(() => node.createCipheriv(CIPHER, key, null).setAutoPadding(false))
    this.#decipher = blockwise(() => node.createDecipheriv(CIPHER, key, null).setAutoPadding(false))
  }

  /** The id of a new task, as clients see it. One that begins like an option is hard to name in a command line. */
  next(): string {
    for (let id = this.#next(); ; id = this.#next()) if (!id.startsWith('-')) return id
  }

  #next(): string {
    if (this.#used === this.#random.length) {
      this.#random = crypto.getRandomValues(new Uint8Array(BLOCK * AT_ONCE))
      this.#used = 0
    }
    const block = Buffer.from(this.#random.buffer, this.#used, BLOCK)
    this.#used += BLOCK
    block.writeUIntBE(Date.now(), 0, TIME)
    const id = this.#encipher(block).toString('base64url')
    this.#remember(id, `${MARK}${block.toString('hex')}`)
    return id
  }

  /** An id as the file has it. */
  stored(id: string): string {
    const known = this.#recent.get(id) ?? this.#older.get(id)
    if (known !== undefined) return known
    if (!SHOWN.test(id)) return storedText(id)
    const stored = `${MARK}${this.#decipher(Buffer.from(id, 'base64url')).toString('hex')}`
    this.#remember(id, stored)
    return stored
  }

  /** The id that clients see for one in the file; anything else as it is. */
  shown(stored: unknown): unknown {
    // No other text is stored with the mark and no quotation mark.
    if (typeof stored !== 'string' || !stored.startsWith(MARK)) return stored
    const block = stored.slice(MARK.length)
    return HEX.test(block) ? this.#encipher(Buffer.from(block, 'hex')).toString('base64url') : stored
  }

  #remember(id: string, stored: string): void {
    if (this.#recent.size === REMEMBERED) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(id, stored)
  }
}

/** Enciphers or deciphers one block after the other. One cipher does it for all, unless the runtime keeps the last block back until the end. */
export function blockwise(make: () => BlockCipher): (block: Uint8Array) => Buffer {
  const stream = make()
  if (stream.update(new Uint8Array(BLOCK)).length === BLOCK) return (block) => stream.update(block)
  return (block) => {
    const single = make()
    return Buffer.concat([single.update(block), single.final()])
  }
}
