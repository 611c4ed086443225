import { soon } from '../base/soon.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { TASK_CANCELLED } from '../errors/tasks.ts'
import { ToolError, toMcpError } from '../errors/tool-error.ts'
import { whereOf } from '../errors/where.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Revision } from '../protocol/revisions.ts'
import { Call } from '../rpc/call.ts'
import { mask } from '../rpc/mask.ts'
import type { Service } from '../rpc/service.ts'
import type { TasksOptions } from '../tasks/host.ts'
import type { TaskHead } from '../tasks/record.ts'
import { Tasks } from '../tasks/tasks.ts'
import type { ToolDefinition } from './definitions.ts'
import type { List } from './lists.ts'
import { RevokedTasks } from './revoked-tasks.ts'
import { taskOwnerOf } from './task-caller.ts'
import { callAsTask, requireTasks } from './task-calls.ts'
import { followTasks } from './task-following.ts'
import { cancelTask, getTask, listTasks, taskResult, updateTask } from './task-methods.ts'
import { withToken } from './task-request.ts'
import { failureFor } from './tools.ts'

/** The tasks of a server, and the functions that answer requests about them. */
export interface TaskModule {
  readonly tasks: Tasks
  readonly revoked: RevokedTasks
  readonly callAsTask: typeof callAsTask
  readonly taskOwnerOf: typeof taskOwnerOf
  readonly requireTasks: typeof requireTasks
  readonly getTask: typeof getTask
  readonly taskResult: typeof taskResult
  readonly listTasks: typeof listTasks
  readonly updateTask: typeof updateTask
  readonly cancelTask: typeof cancelTask
  readonly followTasks: typeof followTasks
}

/** The parts of a server that its tasks need. */
export interface TaskService extends Service {
  readonly tools: List<ToolDefinition>
  /** Whether the server offers a capability, such as `tasks`. */
  offers(capability: string): boolean
}

/** Errors that a direct call shows to the model as a result. */
const OF_TOOL: ReadonlySet<string> = new Set(['tool_failed', 'task_timeout'])

/** Creates the tasks of a server. */
export function createTasks(service: TaskService, limits: Limits, options: TasksOptions): TaskModule {
  const tasks: Tasks = new Tasks(
    {
      limits,
      server: String(service.info['name']),
      tools: () => service.tools.items.keys(),
      planOf: (tool) => service.tools.items.get(tool)?.task,
      attempt(run, request) {
        const { revision, params, client, capabilities, auth, ip, scopes } = request
        const dialect = service.dialects[revision as Revision] ?? service.dialects['2026-07-28']
        const call = new Call(run.head?.id, 'tools/call', withToken(params, run.link?.token), {
          peer: { dialect, client, capabilities, session: undefined },
          channel: run,
          source: { auth, ip, scopes },
        })
        call.task = run
        run.call = call
        // Whoever could create a task after being revoked has new credentials.
        const { id, createdAt } = run.head as TaskHead
        if (auth === undefined || !service.leases.isRevoked(auth, createdAt)) return service.answer(call)
        return soon(tasks.cancel(id, undefined), () => {
          throw mcpError(TASK_CANCELLED, {})
        })
      },
      toError(thrown, { call, tool }) {
        if (thrown instanceof McpError && whereOf(thrown) !== 'local') return thrown
        if (thrown instanceof ToolError) return toMcpError(thrown)
        return mask(service, thrown, { what: `a task of tool "${tool}"`, call })
      },
      toResult: (error, { call }) => (OF_TOOL.has(error.kind) ? failureFor(call.peer, error) : undefined),
      report: (...entry) => service.report(...entry),
    },
    options,
  )
  return {
    tasks,
    revoked: new RevokedTasks(tasks),
    callAsTask,
    taskOwnerOf,
    requireTasks,
    getTask,
    taskResult,
    listTasks,
    updateTask,
    cancelTask,
    followTasks,
  }
}
