import type { Command } from '../command.ts'
import { EXIT } from '../exit.ts'
import { Failure } from '../failure.ts'
import type { Opened } from '../open.ts'
import { STORE_OPTIONS, withTaskStore } from '../task-store.ts'
import { rowText, storedRow, type TaskRow } from '../task-text.ts'

const FINAL: readonly string[] = ['completed', 'failed', 'cancelled']

export const tasksCancel: Command = {
  name: 'tasks cancel',
  group: 'Use a server',
  summary: 'cancel a task',
  hasTarget: true,
  insteadOfTarget: 'store',
  arguments: [{ name: 'id', summary: 'the id of the task' }],
  options: STORE_OPTIONS,
  examples: [
    ['tasks cancel http://localhost:3000/mcp 0198…', 'asks a server to stop one of your tasks'],
    ['tasks cancel 0198… --store sqlite:films.db --name films', 'cancels a task of any caller'],
  ],
  async run(invocation) {
    const { words, output, open } = invocation
    const [id = ''] = words
    const stored = await withTaskStore(invocation, async (tasks) => storedRow(await tasks.cancel(id)))
    const task = stored ?? (await cancelled(await open({ asks: false }), id))
    await output.data({ task }, () => rowText(task))
  },
}

async function cancelled({ client }: Opened, id: string): Promise<TaskRow> {
  const handle = await client.resume(id)
  const before = await handle.status()
  if (FINAL.includes(before.status))
    throw new Failure(`the task has ended already: ${before.status}`, {
      exit: EXIT.server,
      hint: 'pierhead tasks show shows its outcome.',
    })
  await handle.cancel()
  const { status, message, createdAt, updatedAt } = await handle.status()
  return { id, status, message, createdAt, updatedAt }
}
