import { DIALECTS } from '../../protocol/switches.ts'
import type { CreateAdapter } from '../adapter.ts'

/** Understands `tasks/create` as a `tools/call` that asks for a task, at the revision whose clients ask for tasks. */
export const tasksCreate: CreateAdapter = (choices, revision) => {
  if (choices.tasksCreate !== 'alias' || DIALECTS[revision].tasks !== 'asked') return undefined
  return {
    decodeRequest: ({ method, params }) =>
      method === 'tasks/create'
        ? { method: 'tools/call', params: { ...params, task: params['task'] ?? {} } }
        : { method, params },
  }
}
