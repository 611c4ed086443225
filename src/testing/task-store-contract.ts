import { contractChecks, type ContractCheck, type TaskStoreContractOptions } from './contract.ts'
import { DURABLE_TASKS } from './task-contract-durable.ts'
import { TASK_CHANGES } from './task-contract-changes.ts'
import { TASK_CLAIMS } from './task-contract-claims.ts'
import { TASK_IDS } from './task-contract-ids.ts'
import { TASK_LISTS } from './task-contract-lists.ts'
import { TASK_RECORDS } from './task-contract-records.ts'
import { TASK_ROOM } from './task-contract-room.ts'

/**
 * The checks that every store of tasks must pass, for any test runner. A driver's test is one loop; every check opens a store of
 * its own and closes it.
 *
 * @example
 * for (const { name, run } of taskStoreContract({ open: () => memory().tasks })) test(name, run)
 */
export function taskStoreContract(options: TaskStoreContractOptions): readonly ContractCheck[] {
  return contractChecks(options, {
    ...TASK_RECORDS,
    ...TASK_IDS,
    ...TASK_ROOM,
    ...TASK_CHANGES,
    ...TASK_LISTS,
    ...TASK_CLAIMS,
    ...(options.durable === true ? DURABLE_TASKS : {}),
  })
}
