import type { Command } from '../command.ts'
import { wrongUsage } from '../failure.ts'
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
    const tasks = await withTaskStore(invocation, async (desk) => {
      const begun: TaskRow[] = []
      for (const id of words) begun.push(storedRow(await desk.retry(id)))
      return begun
    })
    if (tasks === undefined)
      throw wrongUsage(
        'a server cannot be asked to retry a task; only its store can',
        `Add --store and --name: pierhead tasks retry ID --store sqlite:films.db --name films. Or call the tool again.`,
      )
    await output.data({ tasks }, () => rowsText(tasks))
  },
}
