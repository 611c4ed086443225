import { soon } from '../base/soon.ts'
import type { TaskHead } from './record.ts'
import type { Run } from './run.ts'
import type { Soon } from './store.ts'

/** Reads what another node may have changed for a run: its head, and its state if that may have news. False if the run has lost its task. */
export function lookAt(run: Run): Soon<boolean> {
  const { store, reads } = run.tasks
  const known = run.head as TaskHead
  return soon(store.head(known.id), (head) => {
    if (head?.version === known.version) return true
    if (!run.has(head) || !run.mayHaveNews) return run.refresh(head)
    return soon(reads.forRun(head), (found) => run.refresh(found?.head, found?.text))
  })
}
