// A process whose tool runs one handler at once: it has accepted three tasks in the file of its first argument once it sends their ids.
import { createServer, type App } from '../../src/index.ts'
import { sqlite } from '../../src/stores.ts'
import { testClient } from '../../src/testing.ts'
import { Door } from '../harness/door.ts'

const door = new Door()
const app = createServer({
  name: 'queue',
  version: '1',
  store: sqlite(process.argv[2] ?? '', { lease: '1s' }),
  log: () => undefined,
}).tool('work', { task: { mode: 'required', concurrency: 1 } }, async () => {
  door.open('begun')
  await new Promise(() => undefined)
  return ''
})
const client = await testClient(app as unknown as App, { auth: { sub: 'ann' } })
const ids = [(await client.start('work')).id]
await door.pass('begun')
for (let more = 0; more < 2; more++) ids.push((await client.start('work')).id)
process.send?.(ids)
