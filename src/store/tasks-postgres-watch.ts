import { delayOf, pause } from '../base/backoff.ts'
import type { Client } from './postgres-client.ts'
import type { PostgresLink } from './postgres-link.ts'
import { originalText, readableText } from './stored-text.ts'

const RETRY_PAUSES = { firstMs: 20, maxMs: 1000 }

/** How often the connection is tried, because it may break without notice. */
const PROBE_MS = 5000

/** How many tasks are read at once when any may have changed. */
const PAGE = 1000

/** The longest payload of a notification, in bytes. */
const LONGEST_PAYLOAD = 7900

/** Stands for any task, where an id is too long for a notification. */
const ANY = '*'

/** Those who watch tasks. One connection hears of the changes of other processes; those of this process are known. */
export class PostgresTaskWatchers {
  readonly #link: PostgresLink
  readonly #channel: string
  readonly #watchers = new Set<(id: string) => void>()
  /** Tells the changes of this process from those of others. */
  readonly #writer: string = crypto.randomUUID()
  #client: Client | undefined
  /** The first attempt to listen. */
  #started: Promise<void> | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(link: PostgresLink) {
    this.#link = link
    this.#channel = `pierhead:${link.settings.schema}`
  }

  add(onChange: (id: string) => void): () => void {
    this.#link.lifetime.check()
    // Its own function, so that the same one can watch twice.
    const watcher = (id: string): void => onChange(id)
    this.#watchers.add(watcher)
    void this.start()
    return () => void this.#watchers.delete(watcher)
  }

  /** Begins to listen, and waits for the first attempt only: steps also work while nobody listens. */
  start(): Promise<void> {
    return (this.#started ??= this.#listen(0))
  }

  /** An expression that notifies other processes of a task, with its id as SQL. */
  notification(id: string): string {
    const payload = `json_build_array('${this.#writer}', ${id})::text`
    const bounded = `CASE WHEN octet_length(${payload}) <= ${LONGEST_PAYLOAD} THEN ${payload} ELSE '${ANY}' END`
    return `pg_notify('${this.#channel}', ${bounded})`
  }

  /** Calls the watchers of this process. */
  notify(ids: readonly string[]): void {
    for (const id of ids) for (const watcher of this.#watchers) watcher(id)
  }

  close(): void {
    this.#watchers.clear()
    this.#lose()
  }

  async #listen(attempt: number): Promise<void> {
    if (this.#link.lifetime.isOver) return
    let client: Client | undefined
    try {
      await this.#link.query('SELECT 1', [])
      client = await this.#link.connect()
      this.#adopt(client)
      await this.#link.session(client).exec(`LISTEN "${this.#channel}"`)
    } catch {
      // A connection that broke meanwhile is followed by another already.
      if (client !== undefined && client !== this.#client) return
      this.#lose(client)
      void this.#again(attempt)
      return
    }
    // Changes may have happened while nobody listened.
    if (this.#watchers.size > 0) void this.#announceAll()
  }

  #adopt(client: Client): void {
    if (this.#link.lifetime.isOver) {
      this.#link.release(client, true)
      throw new Error('the store is closed')
    }
    this.#client = client
    const lost = (): void => {
      if (this.#client !== client) return
      this.#lose(client)
      void this.#again(0)
    }
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', (message) => this.#heard((message as { readonly payload?: string }).payload))
    const session = this.#link.session(client)
    this.#timer = setInterval(() => void session.query('SELECT 1').catch(lost), PROBE_MS)
    this.#timer.unref()
  }

  #lose(client: Client | undefined = this.#client): void {
    if (client === undefined || client !== this.#client) return
    this.#client = undefined
    clearInterval(this.#timer)
    this.#link.release(client, true)
  }

  async #again(attempt: number): Promise<void> {
    await pause(delayOf(attempt, RETRY_PAUSES, Math.random))
    await this.#listen(attempt + 1)
  }

  #heard(payload: string | undefined): void {
    const [writer, id] = parsed(payload)
    if (id === undefined) void this.#announceAll()
    else if (writer !== this.#writer) this.notify([id])
  }

  /** Any task may have changed. */
  async #announceAll(): Promise<void> {
    const sql = 'SELECT seq, id FROM pierhead_tasks WHERE seq > ? ORDER BY seq LIMIT ?'
    const client = this.#client
    try {
      for (let last = 0; this.#watchers.size > 0;) {
        const rows = await this.#link.query(sql, [last, PAGE])
        this.notify(rows.map(([, id]) => readableText(String(id))))
        if (rows.length < PAGE) return
        last = Number(rows.at(-1)?.[0])
      }
    } catch {
      // Listening again announces all when the server is back.
      if (client === undefined || client !== this.#client) return
      this.#lose(client)
      void this.#again(0)
    }
  }
}

function parsed(payload: string | undefined): readonly [writer?: string, id?: string] {
  try {
    const [writer, id] = JSON.parse(payload ?? '') as readonly unknown[]
    return [String(writer), originalText(String(id))]
  } catch {
    return []
  }
}
