import { copyOf } from '../../base/copy-of.ts'
import type { CreateAdapter } from '../adapter.ts'

/** Understands `tasks/create` as a `tools/call` that asks for a task, at the revision whose clients ask for tasks. */
export const tasksCreate: CreateAdapter = (choices, revision) => {
  if (choices.tasksCreate !== 'alias' || revision !== '2025-11-25') return undefined
  return {
    decodeRequest: ({ method, params }) =>
      method === 'tasks/create'
        ? { method: 'tools/call', params: Object.assign(copyOf(params), { task: params['task'] ?? {} }) }
        : { method, params },
  }
}
