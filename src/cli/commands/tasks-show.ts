import { ToolError, type TaskHandle } from 'pierhead/client'
import type { Command } from '../command.ts'
import { safe, safeJsonStart } from '../safe-text.ts'
import { STORE_OPTIONS, withTaskStore } from '../task-store.ts'
import { rowText, storedRow, unknownTask, type TaskRow } from '../task-text.ts'

export const tasksShow: Command = {
  name: 'tasks show',
  group: 'Use a server',
  summary: 'show a task, and its outcome if it has ended',
  hasTarget: true,
  insteadOfTarget: 'store',
  arguments: [{ name: 'id', summary: 'the id of the task' }],
  options: STORE_OPTIONS,
  examples: [
    ['tasks show http://localhost:3000/mcp 0198…', 'asks a server for one of your tasks'],
    [
      'tasks show 0198… --store sqlite:films.db --name films',
      'looks into the store, with the arguments of the call',
    ],
  ],
  async run(invocation) {
    const { words, output, open } = invocation
    const [id = ''] = words
    const stored = await withTaskStore(invocation, async (tasks) => {
      const task = await tasks.show(id)
      if (task === undefined) throw unknownTask(id)
      return { ...storedRow(task), arguments: task.arguments, outcome: task.outcome }
    })
    const task = stored ?? (await remoteTask(await (await open({ asks: false })).client.resume(id), id))
    await output.data({ task }, () => {
      const { arguments: given, outcome } = task as {
        readonly arguments?: unknown
        readonly outcome?: unknown
      }
      return [
        rowText(task),
        ...(given === undefined ? [] : [`arguments\n${safeJsonStart(given)}`]),
        ...(outcome === undefined
          ? []
          : [`outcome\n${typeof outcome === 'string' ? safe(outcome) : safeJsonStart(outcome)}`]),
      ].join('\n')
    })
  },
}

/** A task at a server. Its outcome is asked for only if there is one, so nothing waits. */
async function remoteTask(handle: TaskHandle, id: string): Promise<TaskRow & { readonly outcome?: unknown }> {
  const { status, message, createdAt, updatedAt } = await handle.status()
  const row = { id, status, message, createdAt, updatedAt }
  if (status !== 'completed' && status !== 'failed') return row
  try {
    return { ...row, outcome: { result: await handle.result({ total: '60s' }) } }
  } catch (error) {
    const kind =
      error instanceof ToolError ? 'tool' : ((error as { readonly kind?: unknown }).kind ?? 'error')
    return { ...row, outcome: { error: { kind, message: (error as Error).message } } }
  }
}
