// A process that shares a file of SQLite with others. `create` adds tasks, ends each of them, and closes the file; `finish` ends every
// task that is there, unless another process came first, and writes the ids of those that it ended.
import { sqlite } from '../../src/stores.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'

const [path = '', work = '', count = '0'] = process.argv.slice(2)
const { tasks, close } = sqlite(path)

async function create(): Promise<void> {
  for (let done = 0; done < Number(count); done++) {
    const task = sampleTask()
    await tasks.create(task, ROOMY)
    await tasks.change(task.id, 1, { status: 'completed' })
  }
}

async function finish(): Promise<void> {
  for (const { id } of await tasks.list({ limit: Number(count) })) {
    const outcome = JSON.stringify({ result: process.pid })
    const head = await tasks.change(id, 1, { status: 'completed', outcome })
    if (head !== undefined) console.log(id)
  }
}

await (work === 'finish' ? finish() : create())
await close()
