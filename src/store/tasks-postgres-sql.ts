import { hashed, TURN, UNFINISHED, UNREADABLE } from './postgres-schema.ts'
import { HEAD, insertInto } from './tasks-columns.ts'

/** The columns of a record, and its place. */
export const RECORD: string = `${HEAD}, request, state, outcome, seq`

/** The heads of tasks with their texts, which may be missing if somebody removed them. */
export const WITH_TEXTS = 'pierhead_tasks LEFT JOIN pierhead_task_texts USING (seq)'

/** The head of the task with a key: the scope, the key, the server, the scope, the tool and the key. */
export const KEYED: string = `SELECT ${HEAD} FROM pierhead_tasks WHERE ${hashed('scope')} = ${hashed('?')} AND ${hashed('key')} = ${hashed('?')} AND server = ? AND scope = ? AND tool = ? AND key = ? AND scope <> '' AND key <> ''`

/** Adds a task: the values of its head, when it expires, and its texts. */
export const INSERT: string = `WITH added AS (${insertInto('pierhead_tasks')} RETURNING seq) INSERT INTO pierhead_task_texts SELECT seq, ?, ?, ? FROM added`

/** The version, the holder and the sizes of tasks before changes, which keeps others from changing them. */
export const SIZES = `SELECT id, version, scope, network, octet_length(request), octet_length(state), octet_length(outcome) FROM pierhead_tasks AS tasks LEFT JOIN pierhead_task_texts USING (seq) WHERE id = ANY (?::text[]) ORDER BY tasks.seq FOR UPDATE OF tasks`

/** Removes tasks whose time is over, the earliest first: the time, and the most tasks. */
export const REMOVE = `
  WITH expired AS (
    SELECT seq FROM pierhead_tasks WHERE expires_at <= ? ORDER BY expires_at, seq LIMIT ? FOR UPDATE
  ), removed AS (
    DELETE FROM pierhead_tasks AS tasks USING expired WHERE tasks.seq = expired.seq
    RETURNING id, scope, network, expires_at, tasks.seq
  ), texts AS (
    DELETE FROM pierhead_task_texts AS texts USING expired WHERE texts.seq = expired.seq
    RETURNING texts.seq, octet_length(request) + octet_length(state) + octet_length(outcome) AS bytes
  )
  SELECT id, scope, network, coalesce(bytes, 0) FROM removed LEFT JOIN texts USING (seq) ORDER BY expires_at, seq`

/** The tasks of a claim whose answer was lost: the servers, the node, and the mark. */
export const MARKED: string = `SELECT ${RECORD} FROM ${WITH_TEXTS} WHERE server = ANY (?::text[]) AND node = ? AND mark = ? AND ${UNFINISHED}`

/** The largest number of a caller. */
const LAST = '9223372036854775807::bigint'

/**
 * Claims tasks: the servers, the node, the time, the tools, the most tasks, the mark, and the caller whose turn was last. It steps from node to
 * node in the index of unfinished tasks, so neither finished tasks nor those of living nodes are read. The first is that of the next caller; each row ends with that caller, and
 * the place. `notification` tells other processes.
 */
export function claimSql(notification: string): string {
  const next = (server: string, after: string): string =>
    `(SELECT node FROM pierhead_tasks AS next WHERE next.server = ${server} AND next.node > ${after} AND next.${UNFINISHED} ORDER BY node LIMIT 1)`
  return `
  WITH RECURSIVE given AS MATERIALIZED (
    SELECT ?::text[] AS servers, ?::text COLLATE "C" AS node, ?::float8 AS now, ?::text[] AS tools, ?::bigint AS most, ?::text AS mark, ?::bigint AS last
  ), running (server, node) AS (
    SELECT server, ${next('server', `''`)} FROM given, unnest(servers) AS server
    UNION ALL
    SELECT server, ${next('running.server', 'running.node')} FROM running WHERE node IS NOT NULL
  ), free AS (
    SELECT running.server, running.node, 0 AS turn FROM given, running LEFT JOIN pierhead_nodes AS nodes USING (node)
    WHERE running.node IS NOT NULL AND running.node <> given.node AND NOT coalesce(nodes.until > given.now AND nodes.until < 'NaN', false)
    UNION ALL
    SELECT server, '', 1 FROM given, unnest(servers) AS server
  ), unreadable AS (
    SELECT seq, -1 AS turn FROM pierhead_tasks WHERE ${UNREADABLE} ORDER BY seq LIMIT (SELECT most FROM given) FOR UPDATE SKIP LOCKED
  ), due AS (
    SELECT found.seq, free.turn FROM free, given, LATERAL (
      SELECT seq FROM pierhead_tasks AS tasks
      WHERE tasks.server = free.server AND tasks.node = free.node AND tasks.due_at <= given.now
        AND tasks.tool = ANY (given.tools) AND tasks.${UNFINISHED}
      ORDER BY due_at LIMIT (SELECT most FROM given) FOR UPDATE SKIP LOCKED
    ) AS found
  ), rounds AS (
    SELECT 0 AS round, last AS above, ${LAST} AS upto FROM given UNION ALL SELECT 1, -${LAST}, last FROM given
  ), next AS (
    SELECT found.seq, found.caller FROM free, given, rounds, LATERAL (
      SELECT seq, ${TURN} AS caller FROM pierhead_tasks AS tasks
      WHERE tasks.server = free.server AND tasks.node = free.node AND ${TURN} > rounds.above AND ${TURN} <= rounds.upto
        AND tasks.due_at <= given.now AND tasks.tool = ANY (given.tools) AND tasks.${UNFINISHED}
      ORDER BY ${TURN}, due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AS found ORDER BY rounds.round, found.caller, free.turn LIMIT 1
  ), chosen AS (
    SELECT seq FROM (
      SELECT * FROM unreadable UNION ALL SELECT seq, -1 FROM next UNION ALL SELECT * FROM due
    ) AS found GROUP BY seq ORDER BY min(turn) LIMIT (SELECT most FROM given)
  ), claimed AS (
    UPDATE pierhead_tasks AS tasks SET node = given.node, version = version + 1, mark = given.mark
    FROM chosen, given WHERE tasks.seq = chosen.seq
    RETURNING tasks.*
  )
  SELECT ${HEAD.replaceAll(/\w+/g, 'claimed.$&')}, request, state, outcome, ${notification}, (SELECT caller::text FROM next), claimed.seq
  FROM claimed LEFT JOIN pierhead_task_texts AS texts USING (seq)`
}
