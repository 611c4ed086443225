import { TASK_OVERHEAD } from '../tasks/room.ts'
import type { Schema } from './sqlite-file.ts'
import { keyScript } from './tasks-sqlite-ids.ts'

/** The statuses of tasks that are not final, as SQL. Queries that use the index of unfinished tasks repeat it. */
export const UNFINISHED = `status IN ('working', 'input_required')`

/** The caller whose turn a task takes, as SQL. */
export const TURN = `(CASE network WHEN '' THEN scope ELSE network END)`

/** Tasks that `claim` must end, because it could not find them otherwise. Queries that use their index repeat it. */
export const UNREADABLE: string = `(status NOT IN ('working', 'input_required', 'completed', 'failed', 'cancelled') OR typeof(due_at) IN ('text', 'blob') OR (${UNFINISHED} AND (typeof(server) <> 'text' OR typeof(tool) <> 'text')))`

/** The bytes of the texts of a task, as SQL; one that is missing has none. SQLite knows them without reading the texts. */
export const TEXT_BYTES: string = ['request', 'state', 'outcome']
  .map((column) => `coalesce(octet_length(${column}), 0)`)
  .join(' + ')

/** The tables of tasks. The texts are apart, so that heads stay close together. */
export const TASK_SCHEMA: Schema = {
  kind: 'tasks',
  needs: 5,
  migrations: [
    `
    CREATE TABLE pierhead_tasks (
      seq INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      owner TEXT NOT NULL,
      scope TEXT NOT NULL,
      tool TEXT NOT NULL,
      key TEXT NOT NULL,
      status TEXT NOT NULL,
      status_message TEXT NOT NULL,
      is_error INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      ttl_ms INTEGER,
      expires_at INTEGER,
      poll_ms INTEGER NOT NULL,
      attempt INTEGER NOT NULL,
      due_at INTEGER NOT NULL,
      node TEXT NOT NULL,
      version INTEGER NOT NULL
    );
    CREATE TABLE pierhead_task_texts (
      seq INTEGER PRIMARY KEY,
      request TEXT NOT NULL,
      state TEXT NOT NULL,
      outcome TEXT NOT NULL
    );
    CREATE INDEX pierhead_tasks_by_scope ON pierhead_tasks (scope, seq) WHERE scope <> '';
    CREATE UNIQUE INDEX pierhead_tasks_by_key ON pierhead_tasks (scope, tool, key) WHERE scope <> '' AND key <> '';
    CREATE INDEX pierhead_tasks_by_expiry ON pierhead_tasks (expires_at) WHERE expires_at IS NOT NULL;
    CREATE INDEX pierhead_tasks_by_node ON pierhead_tasks (node, due_at) WHERE ${UNFINISHED};
    -- The number of tasks of each scope; the empty one stands for all tasks.
    CREATE TABLE pierhead_task_counts (scope TEXT PRIMARY KEY, tasks INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE pierhead_nodes (node TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
    -- The last changes, for watchers in other processes: the ids as a JSON list.
    CREATE TABLE pierhead_task_changes (seq INTEGER PRIMARY KEY, writer TEXT NOT NULL, ids TEXT NOT NULL);
    `,
    `
    CREATE INDEX pierhead_tasks_by_status ON pierhead_tasks (status);
    CREATE INDEX pierhead_tasks_by_tool ON pierhead_tasks (tool);
    CREATE INDEX pierhead_tasks_by_tool_and_status ON pierhead_tasks (tool, status);
    `,
    `
    ALTER TABLE pierhead_tasks ADD COLUMN server TEXT NOT NULL DEFAULT '';
    DROP INDEX pierhead_tasks_by_key;
    CREATE UNIQUE INDEX pierhead_tasks_by_key ON pierhead_tasks (scope, tool, key, server) WHERE scope <> '' AND key <> '';
    DROP INDEX IF EXISTS pierhead_tasks_unreadable;
    CREATE INDEX pierhead_tasks_unreadable ON pierhead_tasks (seq) WHERE ${UNREADABLE};
    DROP INDEX pierhead_tasks_by_node;
    CREATE INDEX pierhead_tasks_by_node ON pierhead_tasks (server, node, due_at, tool) WHERE ${UNFINISHED};
    `,
    `
    ALTER TABLE pierhead_tasks ADD COLUMN network TEXT NOT NULL DEFAULT '';
    ALTER TABLE pierhead_tasks ADD COLUMN is_shared INTEGER NOT NULL DEFAULT 0;
    DROP TABLE pierhead_task_counts;
    -- The tasks of each scope, of each network and of all, and their bytes; tasks-counts.ts has the names.
    CREATE TABLE pierhead_task_sums (name TEXT PRIMARY KEY, tasks INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO pierhead_task_sums
      SELECT '', count(*), sum(${TASK_OVERHEAD} + ${TEXT_BYTES})
      FROM pierhead_tasks LEFT JOIN pierhead_task_texts USING (seq) HAVING count(*) > 0;
    INSERT INTO pierhead_task_sums
      SELECT 'scope ' || scope, count(*), sum(${TASK_OVERHEAD} + ${TEXT_BYTES})
      FROM pierhead_tasks LEFT JOIN pierhead_task_texts USING (seq) WHERE scope <> '' GROUP BY scope;
    `,
    // Another name, so that programs that cannot read the ids fail, instead of taking them for damage.
    () => `ALTER TABLE pierhead_tasks RENAME TO pierhead_task_heads; ${keyScript()}`,
    `
    ALTER TABLE pierhead_task_heads ADD COLUMN same TEXT NOT NULL DEFAULT '';
    -- Long requests are apart: SQLite writes all of a row if any of it changes, and reads all that is before a column.
    ALTER TABLE pierhead_task_texts RENAME TO pierhead_task_contents;
    CREATE TABLE pierhead_task_requests (seq INTEGER PRIMARY KEY, request TEXT NOT NULL);
    -- Older programs see one table.
    CREATE VIEW pierhead_task_texts AS
      SELECT contents.seq AS seq, coalesce(long.request, contents.request) AS request, state, outcome
      FROM pierhead_task_contents AS contents LEFT JOIN pierhead_task_requests AS long ON long.seq = contents.seq;
    CREATE TRIGGER pierhead_task_texts_insert INSTEAD OF INSERT ON pierhead_task_texts BEGIN
      INSERT INTO pierhead_task_contents (seq, request, state, outcome) VALUES (NEW.seq, NEW.request, NEW.state, NEW.outcome);
    END;
    CREATE TRIGGER pierhead_task_texts_update INSTEAD OF UPDATE ON pierhead_task_texts BEGIN
      UPDATE pierhead_task_contents SET state = NEW.state, outcome = NEW.outcome WHERE seq = OLD.seq;
      UPDATE pierhead_task_contents SET request = NEW.request WHERE seq = OLD.seq AND NEW.request IS NOT OLD.request;
      DELETE FROM pierhead_task_requests WHERE seq = OLD.seq AND NEW.request IS NOT OLD.request;
    END;
    CREATE TRIGGER pierhead_task_texts_delete INSTEAD OF DELETE ON pierhead_task_texts BEGIN
      DELETE FROM pierhead_task_contents WHERE seq = OLD.seq;
      DELETE FROM pierhead_task_requests WHERE seq = OLD.seq;
    END;
    `,
    `
    CREATE INDEX pierhead_tasks_by_turn ON pierhead_task_heads (server, node, ${TURN}, due_at, tool) WHERE ${UNFINISHED};
    `,
    `
    -- With the tool before times and callers, so that a claim for one tool passes no tasks of others.
    DROP INDEX pierhead_tasks_by_node;
    CREATE INDEX pierhead_tasks_by_node ON pierhead_task_heads (server, node, tool, due_at) WHERE ${UNFINISHED};
    DROP INDEX pierhead_tasks_by_turn;
    CREATE INDEX pierhead_tasks_by_turn ON pierhead_task_heads (server, node, tool, ${TURN}, due_at) WHERE ${UNFINISHED};
    `,
  ],
}
