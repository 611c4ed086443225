import type { JoinedNode, NodeInfo, NodeStore } from '../rpc/node-store.ts'
import type { Soon } from '../rpc/soon.ts'
import { HIGHEST_NODE, othersIn, REMEMBERED_MS } from './node-info.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { originalText, storedText } from './stored-text.ts'
import { wholeMs } from './times.ts'

/** Knows the processes that share a file of SQLite. */
export class SqliteNodeStore implements NodeStore {
  readonly #file: SqliteFile

  constructor(file: SqliteFile) {
    this.#file = file
  }

  join(node: Omit<NodeInfo, 'number'>, leaseMs: number): Promise<JoinedNode> {
    return this.#file.write(() => {
      const now = Date.now()
      this.#file.run('DELETE FROM pierhead_members WHERE ends_at <= ?', now - REMEMBERED_MS)
      const rows = this.#file.all('SELECT number, node, ends_at FROM pierhead_members')
      const living = rows.filter(([, , ends]) => Number(ends) > now)
      const others = othersIn(
        living.map(([number, json]) => [number, json] as const),
        node.server,
      )
      const number = this.#nextNumber(new Set(rows.map(([taken]) => Number(taken))))
      const ends = now + wholeMs(leaseMs)
      this.#file.run(
        'INSERT INTO pierhead_members (number, node, ends_at) VALUES (?, ?, ?)',
        number,
        JSON.stringify(node),
        ends,
      )
      return { number, others }
    })
  }

  beat(number: number, leaseMs: number): Promise<boolean> {
    return this.#file.write(() => {
      const now = Date.now()
      const [ends] = this.#file.get('SELECT ends_at FROM pierhead_members WHERE number = ?', number) ?? []
      const sql = 'UPDATE pierhead_members SET ends_at = ? WHERE number = ?'
      this.#file.run(sql, now + wholeMs(leaseMs), number)
      return Number(ends ?? 0) > now
    })
  }

  leave(number: number): Promise<void> {
    return this.#file.write(() => this.#file.run('DELETE FROM pierhead_members WHERE number = ?', number))
  }

  isAlive(number: number): Soon<boolean> {
    const sql = 'SELECT 1 FROM pierhead_members WHERE number = ? AND ends_at > ?'
    return this.#file.read(() => this.#file.get(sql, number, Date.now()) !== undefined)
  }

  secret(server: string, proposed: string): Promise<string> {
    return this.#file.write(() => {
      const name = storedText(server)
      this.#file.run(
        'INSERT OR IGNORE INTO pierhead_secrets (server, secret) VALUES (?, ?)',
        name,
        storedText(proposed),
      )
      const [secret] = this.#file.get('SELECT secret FROM pierhead_secrets WHERE server = ?', name) ?? []
      return originalText(String(secret))
    })
  }

  #nextNumber(taken: ReadonlySet<number>): number {
    const sql = 'UPDATE pierhead_member_number SET last = last % ? + 1 RETURNING last'
    for (;;) {
      const number = Number(this.#file.get(sql, HIGHEST_NODE)?.[0])
      if (!taken.has(number)) return number
    }
  }
}
