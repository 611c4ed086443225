import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../src/stores.ts'
import { addTasks, ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { startPostgres, type TestPostgres } from '../harness/postgres.ts'

let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server.close())

test.each([
  ['change', 'a caller'],
  ['change', 'a network'],
  ['new task', 'a caller'],
])(
  'in PostgreSQL, a %s waits for few changes of the tasks of %s, however many of those wait',
  async (step, whose) => {
    const { tasks, close } = postgres({ connectionString: server.url, schema: `s-${crypto.randomUUID()}` })
    onTestFinished(() => close())
    const many =
      whose === 'a network'
        ? (at: number) => ({ owner: '', scope: `session ${at}`, network: '10.0.0.1' })
        : () => ({ owner: 'eve', scope: 'eve' })
    const ids = await addTasks(tasks, 500, many)
    const [own = ''] = await addTasks(tasks, 1, () => ({ owner: 'bob', scope: 'bob' }))
    let changed = 0
    const changes = ids.map(async (id) => {
      await tasks.change(id, 1, { state: '{}', node: '' })
      changed++
    })
    if (step === 'change') await tasks.change(own, 1, { state: '{}' })
    else await tasks.create(sampleTask({ owner: 'bob', scope: 'bob' }), ROOMY)
    // Two transactions of 64 steps: 500 of them were before it in line.
    expect(changed).toBeLessThanOrEqual(128)
    await Promise.all(changes)
    expect(await tasks.list({ scope: 'bob', limit: 9 })).toHaveLength(step === 'change' ? 1 : 2)
    expect((await tasks.list({ limit: 600 })).filter(({ version }) => version === 2)).toHaveLength(
      step === 'change' ? 501 : 500,
    )
  },
)
