import { expect, test } from 'vitest'
import { mcpError } from '../errors/error.ts'
import { STORE_UNREACHABLE } from '../errors/store.ts'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { hooked } from '../../test/harness/task-hooks.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import type { TaskHead } from './record.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }
const AWAY = { kind: 'store_unreachable' }

interface Lossy {
  readonly store: MemoryTaskStore
  readonly clock: FakeClock
  readonly ran: string[]
  readonly node: Node
  /** Loses the answers of a step from now on; of none if it is empty. */
  lose(step: string): void
  /** A node without losses. */
  other(): Node
}

/** A node whose store does what it is asked, but loses answers. */
function lossy(onRestart: 'fail' | 'retry' = 'fail'): Lossy {
  const [store, clock, ran] = [new MemoryTaskStore(), new FakeClock(), [] as string[]]
  let lost = ''
  const far = hooked(store, {
    after: (step) => {
      if (step === lost) throw mcpError(STORE_UNREACHABLE, { place: 'far away' } as never)
    },
  })
  const create = (of: typeof far): Node =>
    new Node({ store: of, clock, isInMemory: false }).tool(
      'work',
      (run) => {
        ran.push(`${(run.head as TaskHead).key} ${run.attempt}`)
        return DONE
      },
      { onRestart },
    )
  const other = (): Node => create(hooked(store, {}))
  return { store, clock, ran, node: create(far), lose: (step) => void (lost = step), other }
}

test('a task whose creation was not confirmed is withdrawn, and its key is free again', async () => {
  const { store, clock, ran, node, lose } = lossy()
  lose('create')
  await expect(node.start('work', { key: 'k' })).rejects.toMatchObject(AWAY)
  expect(store.list({ status: 'working', limit: 9 })).toHaveLength(1)
  lose('')
  await clock.pass(2000)
  expect(store.list({ status: 'working', limit: 9 })).toEqual([])
  const { id } = await node.start('work', { key: 'k' })
  await settled()
  expect([ran, await node.status(id)]).toEqual([['k 1'], 'completed'])
})

test('a task whose creation was not confirmed runs if a call with its key has got it meanwhile', async () => {
  const { clock, ran, node, lose, other } = lossy()
  lose('create')
  await expect(node.start('work', { key: 'k' })).rejects.toMatchObject(AWAY)
  lose('')
  const second = other()
  const found = await second.start('work', { key: 'k' })
  await second.tasks.join(found)
  await clock.pass(2000)
  expect([ran, await second.status(found.id)]).toEqual([['k 1'], 'completed'])
})

test('a task that the store creates only after its caller has got an error is withdrawn, too', async () => {
  const [store, clock] = [new MemoryTaskStore(), new FakeClock()]
  let isLate = true
  const late = hooked(store, {
    before(step, args) {
      if (step !== 'create' || !isLate) return
      clock.after(5000, () => store.create(...(args as Parameters<typeof store.create>)))
      throw mcpError(STORE_UNREACHABLE, {} as never)
    },
  })
  const node = new Node({ store: late, clock, isInMemory: false }).tool('work', () => DONE)
  await expect(node.start('work', { key: 'k' })).rejects.toMatchObject(AWAY)
  isLate = false
  await clock.pass(20_000)
  expect(store.list({ limit: 9 })).toMatchObject([{ status: 'cancelled' }])
})

test.each([
  ['of a tool that can be repeated runs', 'retry', 'completed', 2],
  ['of a tool that cannot be repeated ends as lost', 'fail', 'failed', 1],
] as const)(
  'a task of a dead node whose claim was not confirmed, %s',
  async (_, onRestart, status, attempt) => {
    const { store, clock, node, lose, other } = lossy(onRestart)
    const dead = other().tool('work', () => new Promise(() => undefined), { onRestart })
    const { id } = await dead.start('work')
    store.beat(dead.tasks.node, 0)
    await node.tasks.start()
    lose('claim')
    await clock.pass(6000)
    expect(store.head(id)).toMatchObject({ status: 'working', node: node.tasks.node })
    // Another node changes it, so that the store cannot know any more to which claim it belongs.
    store.change(id, store.head(id)!.version, { isShared: true })
    lose('')
    await clock.pass(10_000)
    expect(store.head(id)).toMatchObject({ status, attempt, node: '' })
  },
)

test('tasks that run are not taken for lost after a claim that failed', async () => {
  const { store, clock, node, lose } = lossy()
  node.tool('hang', () => new Promise(() => undefined))
  const { id } = await node.start('hang')
  lose('claim')
  await clock.pass(6000)
  lose('')
  await clock.pass(60_000)
  expect(store.head(id)).toMatchObject({ status: 'working', node: node.tasks.node, version: 1 })
})
