import type { Session } from './postgres-link.ts'
import { readableText, storedText } from './stored-text.ts'
import type { StoredHolder } from './tasks-counts.ts'
import type { TextSizes } from './tasks-sizes.ts'
import { SIZES } from './tasks-postgres-sql.ts'

/** How large a task is at one of its versions. Texts never change without the version. */
export interface TaskSizes {
  readonly version: number
  readonly holder: StoredHolder
  readonly texts: TextSizes
}

/** The sizes of tasks, by id. */
export async function sizesOf(
  session: Session,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TaskSizes>> {
  const wanted = [...new Set(ids)].map(storedText)
  const rows = wanted.length === 0 ? [] : await session.query(SIZES, wanted)
  return new Map(
    rows.map(([id, version, scope, network, request, state, outcome]) => {
      const holder = { scope: String(scope), network: String(network) }
      return [
        readableText(String(id)),
        { version: Number(version), holder, texts: { request, state, outcome } },
      ]
    }),
  )
}
