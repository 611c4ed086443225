import type { JoinedNode, NodeInfo, NodeStore } from '../rpc/node-store.ts'
import { HIGHEST_NODE, othersIn, REMEMBERED_MS } from './node-info.ts'
import type { PostgresLink, Session } from './postgres-link.ts'
import { digest, NOW } from './postgres-schema.ts'
import { originalText, storedText } from './stored-text.ts'
import { wholeMs } from './times.ts'

const BEAT = `
  WITH before AS (SELECT number, (ends_at > ${NOW})::int AS was_alive FROM pierhead_members WHERE number = ? FOR UPDATE)
  UPDATE pierhead_members AS members SET ends_at = ${NOW} + ?::float8 FROM before
  WHERE members.number = before.number RETURNING was_alive`

const SECRET = `
  WITH added AS (
    INSERT INTO pierhead_secrets VALUES (${digest('?::text')}, ?) ON CONFLICT (server) DO UPDATE SET secret = pierhead_secrets.secret
    RETURNING secret
  )
  SELECT secret FROM added`

/** Knows the nodes that share a database. */
export class PostgresNodeStore implements NodeStore {
  readonly #link: PostgresLink

  constructor(link: PostgresLink) {
    this.#link = link
  }

  join(node: Omit<NodeInfo, 'number'>, leaseMs: number): Promise<JoinedNode> {
    return this.#link.transaction('nodes', (session) => join(session, node, leaseMs), { isOnce: true })
  }

  async beat(number: number, leaseMs: number): Promise<boolean> {
    const [row] = await this.#link.query(BEAT, [number, wholeMs(leaseMs)])
    return row?.[0] === 1
  }

  async leave(number: number): Promise<void> {
    await this.#link.query('DELETE FROM pierhead_members WHERE number = ?', [number])
  }

  async isAlive(number: number): Promise<boolean> {
    const sql = `SELECT 1 FROM pierhead_members WHERE number = ? AND ends_at > ${NOW}`
    return (await this.#link.query(sql, [number])).length > 0
  }

  secret(server: string, proposed: string): Promise<string> {
    return firstSecret(this.#link, server, proposed)
  }
}

/** The secret of a server, or the text that identifies the tables, which has no name: the given one, unless there is one already. */
export async function firstSecret(link: PostgresLink, server: string, proposed: string): Promise<string> {
  const [row] = await link.query(SECRET, [storedText(server), storedText(proposed)])
  return originalText(String(row?.[0]))
}

async function join(session: Session, node: Omit<NodeInfo, 'number'>, leaseMs: number): Promise<JoinedNode> {
  await session.query(`DELETE FROM pierhead_members WHERE ends_at <= ${NOW} - ?::float8`, REMEMBERED_MS)
  const rows = await session.query(
    `SELECT number, node, (ends_at > ${NOW})::int FROM pierhead_members ORDER BY number`,
  )
  const living = rows.filter(([, , isAlive]) => isAlive === 1)
  const others = othersIn(
    living.map(([number, json]) => [number, json] as const),
    node.server,
  )
  const number = await nextNumber(session, new Set(rows.map(([taken]) => Number(taken))))
  const sql = `INSERT INTO pierhead_members VALUES (?, ?, ${NOW} + ?::float8)`
  await session.query(sql, number, JSON.stringify(node), wholeMs(leaseMs))
  return { number, others }
}

async function nextNumber(session: Session, taken: ReadonlySet<number>): Promise<number> {
  for (;;) {
    const sql = 'UPDATE pierhead_member_number SET last = last % ?::int + 1 RETURNING last'
    const number = Number((await session.query(sql, HIGHEST_NODE))[0]?.[0])
    if (!taken.has(number)) return number
  }
}
