import { McpError } from 'pierhead/client'
import type { Command } from '../command.ts'
import { type Failure, failureOf, wrongUsage } from '../failure.ts'
import { STORE_OPTIONS, withTaskStore } from '../task-store.ts'
import { rowsText, storedRow, type TaskRow } from '../task-text.ts'

export const tasksRetry: Command = {
  name: 'tasks retry',
  group: 'Use a server',
  summary: 'start failed tasks again, in the store of their server',
  details:
    'The protocol has no retry, so this needs the store. It makes a new task for the same caller and request, with an id of its own; ' +
    'the old one stays failed. A server or worker that uses the store does the work.',
  arguments: [{ name: 'id', summary: 'the ids of the tasks that failed', isMany: true }],
  options: STORE_OPTIONS,
  examples: [['tasks retry 0198… --store sqlite:films.db --name films', 'starts a task again']],
  async run(invocation) {
    const { words, output } = invocation
    const tasks: (TaskRow & { readonly retryOf: string })[] = []
    const failures: (readonly [id: string, failure: Failure])[] = []
    const found = await withTaskStore(invocation, async (desk) => {
      for (const id of words)
        try {
          tasks.push({ ...storedRow(await desk.retry(id)), retryOf: id })
        } catch (error) {
          const failure = failureOf(error)
          // Other tasks may be there, unless the store is not.
          if (error instanceof McpError && error.kind.startsWith('store_')) throw error
          failures.push([id, failure])
        }
      return true
    })
    if (found === undefined)
      throw wrongUsage(
        'a server cannot be asked to retry a task; only its store can',
        `Add --store and --name: pierhead tasks retry ID --store sqlite:films.db --name films. Or call the tool again.`,
      )
    const [only] = failures
    if (only !== undefined && words.length === 1) throw only[1]
    const failed = failures.map(([id, { message, hint }]) => ({ id, message, hint }))
    await output.data({ tasks, failed }, () =>
      tasks.length === 0 ? 'Nothing was started.' : rowsText(tasks),
    )
    for (const { id, message, hint } of failed) output.error(`${id}: ${message}`, hint)
    return only?.[1].exit
  },
}
