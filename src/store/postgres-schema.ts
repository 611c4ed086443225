import { mcpError } from '../errors/error.ts'
import { STORE_FAILED } from '../errors/store.ts'
import type { Act, Session } from './postgres-link.ts'

/** The statuses of tasks that are not final, as SQL. Queries that use the index of unfinished tasks repeat it. */
export const UNFINISHED = `status IN ('working', 'input_required')`

/** Tasks that `claim` must end, because it could not find them otherwise. Queries that use their index repeat it. */
export const UNREADABLE = `(status NOT IN ('working', 'input_required', 'completed', 'failed', 'cancelled') OR due_at = 'NaN')`

/** A text as an index can keep it, whatever its length. Queries compare the text too. */
export function hashed(text: string): string {
  return `hashtextextended(${text}, 0)`
}

/** The caller whose turn a task takes, as a number. */
export const TURN: string = hashed("CASE network WHEN '' THEN scope ELSE network END")

/** A text of any length as a key. */
export function digest(text: string): string {
  return `sha256(convert_to(${text}, 'UTF8'))`
}

/** The time of the server in milliseconds since 1970, because clocks of nodes differ. */
export const NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::float8`

const TEXT = 'text COLLATE "C" NOT NULL'
const NUMBER = 'double precision NOT NULL'

/** The tables of each version. */
export interface PostgresTables {
  /** Each brings the tables to the next version. */
  readonly migrations: readonly string[]
  /**
   * The least version that a program must know to work with the newest tables. Programs of that version go on while newer ones bring
   * the tables up to date, so a migration raises it only if their statements would fail or do harm: a new table, index or column with
   * a default does neither.
   */
  readonly needs: number
}

const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE pierhead_tasks (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id ${TEXT} UNIQUE, server ${TEXT}, owner ${TEXT}, scope ${TEXT}, network ${TEXT}, tool ${TEXT}, key ${TEXT},
    status ${TEXT}, status_message ${TEXT}, is_error smallint NOT NULL, is_shared smallint NOT NULL,
    created_at ${NUMBER}, updated_at ${NUMBER}, ttl_ms double precision, expires_at double precision,
    poll_ms ${NUMBER}, attempt ${NUMBER}, due_at ${NUMBER}, node ${TEXT}, version ${NUMBER},
    -- Tells the last change from those of others, so that it can be recognised if its answer was lost.
    mark ${TEXT} DEFAULT ''
  );
  CREATE TABLE pierhead_task_texts (seq bigint PRIMARY KEY, request ${TEXT}, state ${TEXT}, outcome ${TEXT});
  CREATE INDEX ON pierhead_tasks (${hashed('scope')}, seq) WHERE scope <> '';
  -- Keys are unique because they are set only under the lock of the sums.
  CREATE INDEX ON pierhead_tasks (${hashed('scope')}, ${hashed('key')}) WHERE scope <> '' AND key <> '';
  CREATE INDEX ON pierhead_tasks (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX ON pierhead_tasks (server, node, due_at) WHERE ${UNFINISHED};
  CREATE INDEX ON pierhead_tasks (seq) WHERE ${UNREADABLE};
  CREATE INDEX ON pierhead_tasks (status, seq);
  CREATE INDEX ON pierhead_tasks (tool, seq);
  CREATE INDEX ON pierhead_tasks (tool, status, seq);
  -- The tasks of each scope, of each network and of all, and their bytes, by the digest of a name.
  CREATE TABLE pierhead_task_sums (name bytea PRIMARY KEY, tasks ${NUMBER}, bytes ${NUMBER});
  CREATE TABLE pierhead_nodes (node ${TEXT} PRIMARY KEY, until ${NUMBER});
  CREATE TABLE pierhead_cache (key bytea PRIMARY KEY, text ${TEXT}, ends_at ${NUMBER});
  CREATE INDEX ON pierhead_cache (ends_at);
  CREATE TABLE pierhead_rates (key bytea PRIMARY KEY, used ${NUMBER}, ends_at ${NUMBER}, is_within integer NOT NULL);
  CREATE INDEX ON pierhead_rates (ends_at);
  CREATE TABLE pierhead_members (number integer PRIMARY KEY, node ${TEXT}, ends_at ${NUMBER});
  CREATE TABLE pierhead_member_number (last integer NOT NULL);
  INSERT INTO pierhead_member_number VALUES (0);
  CREATE TABLE pierhead_secrets (server bytea PRIMARY KEY, secret ${TEXT});
  `,
  `ALTER TABLE pierhead_tasks ADD COLUMN same ${TEXT} DEFAULT ''`,
  `CREATE INDEX ON pierhead_tasks (server, node, (${TURN}), due_at) WHERE ${UNFINISHED}`,
  `
  -- With the tool before times and callers, so that a claim for one tool passes no tasks of others.
  CREATE INDEX ON pierhead_tasks (server, node, tool, due_at) WHERE ${UNFINISHED};
  CREATE INDEX ON pierhead_tasks (server, node, tool, (${TURN}), due_at) WHERE ${UNFINISHED};
  DROP INDEX IF EXISTS pierhead_tasks_server_node_due_at_idx;
  DROP INDEX IF EXISTS pierhead_tasks_server_node_hashtextextended_due_at_idx;
  `,
]

const TABLES: PostgresTables = { migrations: MIGRATIONS, needs: 1 }

interface Place {
  readonly schema: string
  readonly place: string
  /** Runs statements. */
  read<Value>(act: Act<Value>): Promise<Value>
  /** Runs a transaction, of which there is one at a time. */
  locked<Value>(act: Act<Value>): Promise<Value>
}

/** Creates the tables, or brings them up to date. Tables that are up to date are only read. */
export async function migrate(
  { schema, place, read, locked }: Place,
  { migrations, needs }: PostgresTables = TABLES,
): Promise<void> {
  const fail = (reason: string, hint: string): never => {
    throw mcpError(STORE_FAILED, { path: `${place} (schema ${schema})`, reason }, { hint })
  }
  const known = migrations.length
  const { version } = await read((session) => versionIn(session, schema))
  if (version === known) return
  const newest = await locked(async (session) => {
    const [encoding] = (await session.query('SHOW server_encoding'))[0] ?? []
    if (encoding !== 'UTF8') fail(`the encoding of the database is ${String(encoding)}`, ENCODING_HINT)
    const before = await versionIn(session, schema)
    const found = before.version
    if (found >= known) return before
    // The right to create a schema is needed only if it does not exist.
    if (found === 0 && (await session.query(SCHEMA, schema)).length === 0)
      await session.exec(`CREATE SCHEMA "${schema}"`)
    if (found === 0) await session.exec('CREATE TABLE pierhead_schema (version integer NOT NULL)')
    for (const migration of migrations.slice(found)) await session.exec(migration)
    await session.exec(
      `ALTER TABLE pierhead_schema ADD COLUMN IF NOT EXISTS needs integer;
      DELETE FROM pierhead_schema; INSERT INTO pierhead_schema (version, needs) VALUES (${known}, ${needs})`,
    )
    return { version: known, needs }
  })
  if (newest.needs > known)
    fail(
      `its tables have version ${newest.version}, and this program knows only up to ${known}`,
      'Use the newer version of Pierhead that wrote them, or give postgres another schema.',
    )
}

const ENCODING_HINT = `Create a database with ENCODING 'UTF8', and give postgres its URL.`

/** The version of the tables, 0 if there are none, and the least one that programs must know. */
async function versionIn(
  session: Session,
  schema: string,
): Promise<{ readonly version: number; readonly needs: number }> {
  if ((await session.query(TABLE, schema, 'pierhead_schema')).length === 0) return { version: 0, needs: 0 }
  // The first programs had no column for what is needed.
  const sql = `SELECT version, to_jsonb(tables) ->> 'needs' FROM pierhead_schema AS tables`
  const [version = 0, needs] = (await session.query(sql))[0] ?? []
  return { version: Number(version), needs: Number(needs ?? version) }
}

/** Functions such as `to_regclass` would not see, after waiting for a lock, tables that others have created meanwhile. */
const SCHEMA = 'SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ?'
const TABLE =
  'SELECT 1 FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace AS schemas ON schemas.oid = relnamespace WHERE nspname = ? AND relname = ?'
