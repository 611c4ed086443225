// A process that shares a file of SQLite with others: adds tasks, changes each of them, and closes the file.
import { sqlite } from '../../src/stores.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'

const [path = '', count = '0'] = process.argv.slice(2)
const { tasks, close } = sqlite(path)
for (let done = 0; done < Number(count); done++) {
  const task = sampleTask()
  await tasks.create(task, ROOMY)
  await tasks.change(task.id, 1, { status: 'completed' })
}
await close()
