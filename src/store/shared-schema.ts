import type { Schema } from './sqlite-file.ts'

/** How many changes of streams are remembered for watchers in other processes. */
const REMEMBERED = 2_000

/** A trigger that records changes of streams. The bus has readers of its own. */
function recordChange(name: string, event: string, row: 'NEW' | 'OLD'): string {
  return `
      CREATE TRIGGER pierhead_log_changes_${name} AFTER ${event} ON pierhead_logs WHEN ${row}.session <> '' BEGIN
        INSERT INTO pierhead_log_changes (session, name) VALUES (${row}.session, ${row}.name);
        DELETE FROM pierhead_log_changes WHERE number <= (SELECT max(number) FROM pierhead_log_changes) - ${REMEMBERED};
      END;`
}

/** The tables of what several processes share besides tasks. Times are milliseconds since 1970. */
export const SHARED_SCHEMAS: readonly Schema[] = [
  {
    kind: 'sessions',
    needs: 1,
    migrations: [
      `
      CREATE TABLE pierhead_sessions (
        id TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        version INTEGER NOT NULL,
        used_at INTEGER NOT NULL,
        idle_ms INTEGER NOT NULL,
        ends_at INTEGER NOT NULL
      );
      CREATE INDEX pierhead_sessions_by_end ON pierhead_sessions (ends_at);
      CREATE INDEX pierhead_sessions_by_use ON pierhead_sessions (owner, used_at);
      CREATE TABLE pierhead_session_fields (
        id TEXT NOT NULL,
        name TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (id, name)
      ) WITHOUT ROWID;
      -- The number of sessions of each owner, and in the row without one, of all.
      CREATE TABLE pierhead_session_counts (owner TEXT UNIQUE, sessions INTEGER NOT NULL);
      CREATE INDEX pierhead_session_counts_by_size ON pierhead_session_counts (sessions) WHERE owner IS NOT NULL;
      INSERT INTO pierhead_session_counts VALUES (NULL, 0);
      `,
      `
      -- The names of the fields that the last changes of a session concerned, as JSON. Older programs write none, which leaves gaps, and remove sessions, too.
      CREATE TABLE pierhead_session_changes (
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        names TEXT NOT NULL,
        PRIMARY KEY (id, version)
      );
      CREATE TRIGGER pierhead_session_changes_delete AFTER DELETE ON pierhead_sessions BEGIN
        DELETE FROM pierhead_session_changes WHERE id = OLD.id;
      END;
      `,
    ],
  },
  {
    kind: 'events',
    needs: 1,
    migrations: [
      `
      -- Streams of sessions; the bus is the one without a session.
      CREATE TABLE pierhead_logs (
        id INTEGER PRIMARY KEY,
        session TEXT NOT NULL,
        name TEXT NOT NULL,
        writer TEXT NOT NULL,
        next INTEGER NOT NULL,
        first INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        is_over INTEGER NOT NULL,
        position INTEGER,
        ends_at INTEGER NOT NULL,
        UNIQUE (session, name)
      );
      CREATE INDEX pierhead_logs_by_end ON pierhead_logs (ends_at);
      CREATE TABLE pierhead_log_texts (
        log INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        text TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        PRIMARY KEY (log, seq)
      );
      `,
      `
      -- The last changes of streams, for watchers in other processes. Triggers record those of older programs, too.
      CREATE TABLE pierhead_log_changes (number INTEGER PRIMARY KEY, session TEXT NOT NULL, name TEXT NOT NULL);
      ${recordChange('insert', 'INSERT', 'NEW')}
      ${recordChange('update', 'UPDATE OF next', 'NEW')}
      ${recordChange('delete', 'DELETE', 'OLD')}
      `,
      `
      -- Requests for which a stream takes nothing more. Older programs remove streams, too, and numbers of streams are used again.
      CREATE TABLE pierhead_log_given_up (log INTEGER NOT NULL, request TEXT NOT NULL, PRIMARY KEY (log, request)) WITHOUT ROWID;
      CREATE TRIGGER pierhead_log_given_up_delete AFTER DELETE ON pierhead_logs BEGIN
        DELETE FROM pierhead_log_given_up WHERE log = OLD.id;
      END;
      `,
    ],
  },
  {
    kind: 'cache',
    needs: 1,
    migrations: [
      `
      CREATE TABLE pierhead_cache (key TEXT PRIMARY KEY, text TEXT NOT NULL, ends_at INTEGER NOT NULL);
      CREATE INDEX pierhead_cache_by_end ON pierhead_cache (ends_at);
      `,
    ],
  },
  {
    kind: 'rates',
    needs: 1,
    migrations: [
      `
      CREATE TABLE pierhead_rates (key TEXT PRIMARY KEY, used INTEGER NOT NULL, ends_at INTEGER NOT NULL);
      CREATE INDEX pierhead_rates_by_end ON pierhead_rates (ends_at);
      `,
    ],
  },
  {
    kind: 'nodes',
    needs: 1,
    migrations: [
      `
      CREATE TABLE pierhead_members (number INTEGER PRIMARY KEY, node TEXT NOT NULL, ends_at INTEGER NOT NULL);
      CREATE TABLE pierhead_member_number (one INTEGER PRIMARY KEY, last INTEGER NOT NULL);
      INSERT INTO pierhead_member_number VALUES (1, 0);
      CREATE TABLE pierhead_secrets (server TEXT PRIMARY KEY, secret TEXT NOT NULL);
      `,
    ],
  },
]
