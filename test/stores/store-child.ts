// A process that shares a store with others: a file of SQLite, or PostgreSQL with options as JSON. `create` adds tasks and ends each of them;
// `finish` ends every task that is there, unless another process came first, and writes the ids of those that it ended; `hold` claims
// all tasks, writes their ids, and stays.
import { postgres, sqlite, type PostgresOptions } from '../../src/stores.ts'
import { OWN, ROOMY, sampleTask } from '../../src/testing/contract.ts'

const [place = '', work = '', count = '0'] = process.argv.slice(2)
const { tasks, close } = place.startsWith('{')
  ? postgres(JSON.parse(place) as PostgresOptions)
  : sqlite(place)

const WORK: Readonly<Record<string, () => Promise<void>>> = {
  async create() {
    for (let done = 0; done < Number(count); done++) {
      const task = sampleTask()
      await tasks.create(task, ROOMY)
      await tasks.change(task.id, 1, { status: 'completed' })
    }
  },

  async finish() {
    for (const { id } of await tasks.list({ limit: Number(count) })) {
      const outcome = JSON.stringify({ result: process.pid })
      const head = await tasks.change(id, 1, { status: 'completed', outcome })
      if (head !== undefined) console.log(id)
    }
  },

  async hold() {
    await tasks.beat('held', 1000)
    const held = await tasks.claim('held', 500, Number(count), OWN)
    console.log(held.map(({ id }) => id).join('\n'))
    await new Promise((resolve) => process.stdin.once('end', resolve).resume())
  },
}

await WORK[work]?.()
await close()
