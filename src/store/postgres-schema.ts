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

/** A text of any length as a key. */
export function digest(text: string): string {
  return `sha256(convert_to(${text}, 'UTF8'))`
}

/** The time of the server in milliseconds since 1970, because clocks of nodes differ. */
export const NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::float8`

const TEXT = 'text COLLATE "C" NOT NULL'
const NUMBER = 'double precision NOT NULL'

/** Each brings the tables to the next version. Programs with the same version may run side by side. */
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
]

interface Place {
  readonly schema: string
  readonly place: string
  /** Runs statements. */
  read<Value>(act: Act<Value>): Promise<Value>
  /** Runs a transaction, of which there is one at a time. */
  locked<Value>(act: Act<Value>): Promise<Value>
}

/** Creates the tables, or brings them up to date. Tables that are up to date are only read. */
export async function migrate({ schema, place, read, locked }: Place): Promise<void> {
  const fail = (reason: string, hint: string): never => {
    throw mcpError(STORE_FAILED, { path: `${place} (schema ${schema})`, reason }, { hint })
  }
  const version = await read((session) => versionIn(session, schema))
  if (version === MIGRATIONS.length) return
  const newest = await locked(async (session) => {
    const [encoding] = (await session.query('SHOW server_encoding'))[0] ?? []
    if (encoding !== 'UTF8') fail(`the encoding of the database is ${String(encoding)}`, ENCODING_HINT)
    const found = await versionIn(session, schema)
    if (found >= MIGRATIONS.length) return found
    // The right to create a schema is needed only if it does not exist.
    if (found === 0 && (await session.query(SCHEMA, schema)).length === 0)
      await session.exec(`CREATE SCHEMA "${schema}"`)
    if (found === 0) await session.exec('CREATE TABLE pierhead_schema (version integer NOT NULL)')
    for (const migration of MIGRATIONS.slice(found)) await session.exec(migration)
    await session.exec(
      `DELETE FROM pierhead_schema; INSERT INTO pierhead_schema VALUES (${MIGRATIONS.length})`,
    )
    return MIGRATIONS.length
  })
  if (newest > MIGRATIONS.length)
    fail(
      `its tables have version ${newest}, and this program knows only up to ${MIGRATIONS.length}`,
      'Use the newer version of Pierhead that wrote them, or give postgres another schema.',
    )
}

const ENCODING_HINT = `Create a database with ENCODING 'UTF8', and give postgres its URL.`

/** The version of the tables; 0 if there are none. */
async function versionIn(session: Session, schema: string): Promise<number> {
  if ((await session.query(TABLE, schema, 'pierhead_schema')).length === 0) return 0
  return Number((await session.query('SELECT version FROM pierhead_schema'))[0]?.[0] ?? 0)
}

/** Functions such as `to_regclass` would not see, after waiting for a lock, tables that others have created meanwhile. */
const SCHEMA = 'SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ?'
const TABLE =
  'SELECT 1 FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace AS schemas ON schemas.oid = relnamespace WHERE nspname = ? AND relname = ?'
