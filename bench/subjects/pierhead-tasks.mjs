import { createServer } from 'pierhead'
import { redis, sqlite } from 'pierhead/stores'

/** Room for all tasks of a run. */
const MUCH = 1e12

/** Connects a client in the same process to a server whose tasks are in memory, in a file of SQLite, or in Redis. */
export function connect(receive, place) {
  const store = place === undefined ? undefined : storeAt(place)
  const limits = { tasks: MUCH, callerTasks: MUCH, taskBytes: MUCH }
  const app = createServer({ name: 'bench', version: '1.0.0', limits, store })
  const number = { type: 'number' }
  const input = { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] }
  app.tool('add', { input, task: 'required' }, ({ a, b }) => String(a + b))
  const end = app.connect({ receive })
  return {
    send: (text) => end.send(text),
    async close() {
      await app.close()
      await store?.close()
    },
  }
}

function storeAt(place) {
  const [url, prefix] = place.split('#')
  return prefix === undefined ? sqlite(place) : redis({ url, prefix })
}
