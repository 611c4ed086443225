import { McpError } from '../errors/error.ts'
import { ToolError, toMcpError } from '../errors/tool-error.ts'
import { whereOf } from '../errors/where.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Revision } from '../protocol/revisions.ts'
import { Call } from '../rpc/call.ts'
import { mask } from '../rpc/mask.ts'
import type { Service } from '../rpc/service.ts'
import type { TasksOptions } from '../tasks/host.ts'
import { Tasks } from '../tasks/tasks.ts'
import type { ToolDefinition } from './definitions.ts'
import type { List } from './lists.ts'

export { callAsTask, callerOf, requireTasks } from './task-calls.ts'
export { cancelTask, detailed, getTask, listTasks, taskResult, updateTask } from './task-methods.ts'
export { followTasks } from './task-following.ts'

/** The parts of a server that its tasks need. */
export interface TaskService extends Service {
  readonly tools: List<ToolDefinition>
}

/** Creates the tasks of a server. */
export function createTasks(service: TaskService, limits: Limits, options: TasksOptions): Tasks {
  return new Tasks(
    {
      limits,
      planOf: (tool) => service.tools.items.get(tool)?.task,
      attempt(run, request) {
        const { revision, params, client, capabilities, auth, ip, scopes } = request
        const dialect = service.dialects[revision as Revision] ?? service.dialects['2026-07-28']
        const call = new Call(run.head?.id, 'tools/call', params, {
          peer: { dialect, client, capabilities, session: undefined },
          channel: run,
          source: { auth, ip, scopes },
        })
        call.task = run
        run.call = call
        return service.answer(call)
      },
      toError(thrown, { call, tool }) {
        if (thrown instanceof McpError && whereOf(thrown) !== 'local') return thrown
        if (thrown instanceof ToolError) return toMcpError(thrown)
        return mask(service, thrown, { what: `a task of tool "${tool}"`, call })
      },
      report: (...entry) => service.report(...entry),
    },
    options,
  )
}
