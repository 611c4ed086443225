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
 * node in the index of unfinished tasks, so neither finished tasks nor those of living nodes are read, and
 * tasks of other tools are not either. Callers take turns: their shares are counted
 * first, so that no other tasks are locked, and if somebody else locks too many, the oldest fill the rest. Each row ends with the caller whose turn was last, and
 * the place. `notification` tells other processes.
 */
export function claimSql(notification: string): string {
  const next = (server: string, after: string): string =>
    `(SELECT node FROM pierhead_tasks AS next WHERE next.server = ${server} AND next.node > ${after} AND next.${UNFINISHED} ORDER BY node LIMIT 1)`
  const isFree = `tasks.server = free.server AND tasks.node = free.node AND tasks.tool = free.tool AND tasks.due_at <= given.now AND tasks.${UNFINISHED}`
  const caller = (after: string): string =>
    `(SELECT min(first.caller) FROM free, given, LATERAL (SELECT ${TURN} AS caller FROM pierhead_tasks AS tasks WHERE ${isFree} AND ${TURN} > ${after} ORDER BY ${TURN} LIMIT 1) AS first)`
  // Always true. Without it, PostgreSQL expects so many rows that it compiles the statement, which takes longer than to run it.
  const few = (one: string, all: string): string => `${one} = ANY (${all})`
  return `
  WITH RECURSIVE given AS MATERIALIZED (
    SELECT ?::text[] AS servers, ?::text COLLATE "C" AS node, ?::float8 AS now, ?::text[] AS tools, ?::bigint AS most, ?::text AS mark, ?::bigint AS last
  ), running (server, node) AS (
    SELECT server, ${next('server', `''`)} FROM given, unnest(servers) AS server WHERE ${few('server', 'servers')}
    UNION ALL
    SELECT server, ${next('running.server', 'running.node')} FROM running WHERE node IS NOT NULL
  ), left_over AS (
    SELECT running.server, running.node, 0 AS turn FROM given, running LEFT JOIN pierhead_nodes AS nodes USING (node)
    WHERE running.node IS NOT NULL AND running.node <> given.node AND NOT coalesce(nodes.until > given.now AND nodes.until < 'NaN', false)
    UNION ALL
    SELECT server, '', 1 FROM given, unnest(servers) AS server WHERE ${few('server', 'servers')}
  ), free AS (
    -- The first in an index: without order and limit, PostgreSQL may read all tasks.
    SELECT free.* FROM given, (SELECT left_over.*, tool FROM left_over, given, unnest(tools) AS tool WHERE ${few('tool', 'tools')}) AS free,
      LATERAL (SELECT 1 FROM pierhead_tasks AS tasks WHERE ${isFree} ORDER BY due_at LIMIT 1) AS first
  ), unreadable AS (
    SELECT seq, -1 AS turn FROM pierhead_tasks WHERE ${UNREADABLE} ORDER BY seq LIMIT (SELECT most FROM given) FOR UPDATE SKIP LOCKED
  ), callers (round, caller, place) AS (
    SELECT 0, ${caller('given.last')}, 1 FROM given
    UNION ALL
    SELECT CASE WHEN callers.caller IS NULL THEN 1 ELSE round END, ${caller(`coalesce(callers.caller, -${LAST})`)}, place + 1 FROM callers, given
    WHERE place <= given.most AND CASE round WHEN 0 THEN true ELSE callers.caller <= given.last END
  ), waiting AS (
    SELECT callers.round, callers.caller, free.server, free.node, free.tool, row_number() OVER (PARTITION BY callers.caller ORDER BY free.turn, found.due_at) AS nth
    FROM callers, free, given, LATERAL (
      SELECT due_at FROM pierhead_tasks AS tasks WHERE ${isFree} AND ${TURN} = callers.caller ORDER BY due_at LIMIT (SELECT most FROM given)
    ) AS found
    WHERE callers.round = 0 OR callers.caller <= given.last
  ), shares AS (
    SELECT round, caller, server, node, tool, count(*) AS tasks, max(nth) AS nth
    FROM (SELECT * FROM waiting ORDER BY nth, round, caller LIMIT (SELECT most FROM given)) AS first GROUP BY round, caller, server, node, tool
  ), next AS (
    SELECT found.seq FROM shares AS free, given, LATERAL (
      SELECT seq FROM pierhead_tasks AS tasks WHERE ${isFree} AND ${TURN} = free.caller ORDER BY due_at LIMIT free.tasks FOR UPDATE SKIP LOCKED
    ) AS found
  ), due AS (
    SELECT found.seq, free.turn FROM free, given, LATERAL (
      SELECT seq FROM pierhead_tasks AS tasks WHERE ${isFree} AND tasks.seq <> ALL (ARRAY(SELECT seq FROM next))
      ORDER BY due_at LIMIT (SELECT most - (SELECT count(*) FROM next) FROM given) FOR UPDATE SKIP LOCKED
    ) AS found
  ), chosen AS (
    SELECT seq FROM (
      SELECT * FROM unreadable UNION ALL SELECT seq, -1 FROM next UNION ALL SELECT * FROM due
    ) AS found GROUP BY seq ORDER BY min(turn) LIMIT (SELECT most FROM given)
  ), claimed AS (
    UPDATE pierhead_tasks AS tasks SET node = given.node, version = version + 1, mark = given.mark
    FROM chosen, given WHERE tasks.seq = chosen.seq
    RETURNING tasks.*
  )
  SELECT ${HEAD.replaceAll(/\w+/g, 'claimed.$&')}, request, state, outcome, ${notification}, (SELECT caller::text FROM shares ORDER BY nth DESC, round DESC, caller DESC LIMIT 1), claimed.seq
  FROM claimed LEFT JOIN pierhead_task_texts AS texts USING (seq)`
}
