import { expect, test } from 'vitest'
import { Deferred } from '../base/deferred.ts'
import { FakeClock, settled } from '../../test/harness/task-clock.ts'
import { Node } from '../../test/harness/task-engine.ts'
import { MemoryTaskStore } from '../store/tasks-memory.ts'
import { CLOCK } from './clock.ts'
import type { Run } from './run.ts'
import type { TaskChange } from './store.ts'

const DONE = { content: [{ type: 'text', text: 'done' }] }
const QUESTION = { method: 'elicitation/create', params: { message: 'Sure?' } }
const never = (): Promise<typeof DONE> => new Promise(() => undefined)

/** A store in memory that refuses changes: now, as a driver that answers at once, or later. */
class Refusing extends MemoryTaskStore {
  refuses: (change: TaskChange) => boolean = () => false
  readonly refused: TaskChange[] = []
  readonly #isSync: boolean

  constructor(isSync = false) {
    super()
    this.#isSync = isSync
  }

  override change(...[id, version, change]: Parameters<MemoryTaskStore['change']>): never {
    const act = (): unknown => {
      if (!this.refuses(change)) return super.change(id, version, change)
      this.refused.push(change)
      // A loop without pauses ends here, so that the test can see it.
      if (this.refused.length > 1000) return new Promise(() => undefined)
      throw new Error('busy')
    }
    return (this.#isSync ? act() : Promise.resolve().then(act)) as never
  }

  /** Refuses the first change that matches. */
  refuseOnce(isMeant: (change: TaskChange) => boolean): void {
    this.refuses = (change) => this.refused.length === 0 && isMeant(change)
  }
}

test('an outcome that the store refuses again and again is tried after growing pauses', async () => {
  const store = new Refusing()
  store.refuses = ({ outcome }) => outcome !== undefined
  const node = new Node({ store }).tool('work', () => DONE)
  const { id } = await node.start('work', { ttlMs: 3_600_000 })
  await node.clock.pass(60_000)
  expect(store.refused.length).toBeGreaterThan(2)
  expect(store.refused.length).toBeLessThan(7)
  const before = store.refused.length
  await node.clock.pass(60_000)
  expect(store.refused.length - before).toBeLessThan(3)
  store.refuses = () => false
  await node.clock.pass(300_000)
  expect(await node.status(id)).toBe('completed')
})

test('the wait for tasks of a server that closes keeps the process alive, and nothing else does', async () => {
  const timers = [CLOCK.after(1000, () => undefined), CLOCK.after(1000, () => undefined, true)]
  expect(timers.map((timer) => (timer as NodeJS.Timeout).hasRef())).toEqual([false, true])
  for (const timer of timers) CLOCK.clear(timer)
  const kept: (boolean | undefined)[] = []
  const clock = new FakeClock()
  const after = clock.after.bind(clock)
  clock.after = (...args: Parameters<typeof CLOCK.after>) => (kept.push(args[2]), after(args[0], args[1]))
  const node = new Node({ clock }).tool('hang', never)
  await node.start('hang')
  expect(kept).not.toContain(true)
  kept.length = 0
  const closing = node.tasks.close(5000)
  expect(kept).toEqual([true])
  await clock.pass(5000)
  await closing
})

test('a server that closes aborts the handlers of tasks with the reason, also if the store fails', async () => {
  for (const isBroken of [false, true]) {
    const store = new Refusing()
    store.refuses = () => isBroken
    store.beat = () => {
      if (isBroken && node.tasks.isClosing) throw new Error('busy')
    }
    const reasons: unknown[] = []
    const hang = (run: Run): Promise<typeof DONE> => {
      run.call.signal.addEventListener('abort', () => reasons.push(run.call.signal.reason))
      return never()
    }
    const node = new Node({ store }).tool('safe', hang, { onRestart: 'retry' }).tool('unsafe', hang)
    const ids = [await node.start('safe'), await node.start('unsafe')].map(({ id }) => id)
    await settled()
    const closing = node.tasks.close(1000)
    await node.clock.pass(1000)
    await closing
    expect(reasons).toMatchObject([{ kind: 'shutting_down' }, { kind: 'shutting_down' }])
    expect(node.tasks.runs.size).toBe(0)
    const statuses = await Promise.all(ids.map((id) => node.status(id)))
    expect(statuses).toEqual(['working', isBroken ? 'working' : 'failed'])
  }
})

test('a server that closes tries once more to store an outcome', async () => {
  const store = new Refusing()
  store.refuseOnce(({ outcome }) => outcome !== undefined)
  const node = new Node({ store }).tool('work', () => DONE)
  const { id } = await node.start('work')
  await settled()
  expect(await node.status(id)).toBe('working')
  await node.tasks.close(0)
  expect(await node.status(id)).toBe('completed')
})

test('a server that closes gives up all tasks at once, so that it waits for a locked store once', async () => {
  const store = new Refusing()
  const node = new Node({ store }).tool('safe', never, { onRestart: 'retry' }).tool('unsafe', never)
  for (const tool of ['safe', 'unsafe', 'safe', 'unsafe']) await node.start(tool)
  let writes = 0
  const locked = new Deferred<void>()
  const change = store.change.bind(store)
  store.change = (...args) => (writes++, locked.promise.then(() => change(...args))) as never
  const closing = node.tasks.close(0)
  await settled()
  expect(writes).toBe(4)
  locked.resolve()
  await closing
  expect(node.tasks.runs.size).toBe(0)
})

test('a store that fails when the server starts is tried again until it works', async () => {
  const store = new MemoryTaskStore()
  const clock = new FakeClock()
  const other = new Node({ clock, store, isInMemory: false }).tool('safe', never)
  const { id } = await other.start('safe')
  await other.tasks.upkeep.stop()
  const beat = store.beat.bind(store)
  let beats = 0
  store.beat = () => {
    beats++
    throw new Error('locked')
  }
  const node = new Node({ clock, store, isInMemory: false }).tool('safe', () => DONE, { onRestart: 'retry' })
  expect(() => node.tasks.start()).toThrow('locked')
  await clock.pass(60_000)
  // After 1, 2, 4, 8, 16 and then 30 seconds.
  expect(beats).toBe(6)
  store.beat = beat
  await clock.pass(30_000)
  expect(await node.status(id)).toBe('completed')
})

test('a server that closes before its store works does not try again', async () => {
  const clock = new FakeClock()
  const store = new MemoryTaskStore()
  store.beat = () => {
    throw new Error('locked')
  }
  const node = new Node({ clock, store, isInMemory: false })
  expect(() => node.tasks.start()).toThrow('locked')
  await node.tasks.close(0)
  expect(clock.timers).toBe(0)
})

test('the lease of the store says how long a node counts as alive', async () => {
  const store = Object.assign(new MemoryTaskStore(), { leaseMs: 3000 })
  const clock = new FakeClock()
  const dead = new Node({ clock, store, isInMemory: false }).tool('safe', never)
  const { id } = await dead.start('safe')
  await clock.pass(10_000)
  const beats: number[] = []
  const beat = store.beat.bind(store)
  store.beat = (node, until) => {
    if (node !== dead.tasks.node) beat(node, until)
    else beats.push(until - clock.now())
  }
  const node = new Node({ clock, store, isInMemory: false }).tool('safe', () => DONE, { onRestart: 'retry' })
  await node.tasks.start()
  await clock.pass(1900)
  expect(await node.status(id)).toBe('working')
  await clock.pass(2200)
  expect(await node.status(id)).toBe('completed')
  // Three signs of life within a lease.
  expect(beats).toEqual([3000, 3000, 3000, 3000])
})

for (const [kind, isSync] of [
  ['throws', true],
  ['rejects', false],
] as const) {
  test(`a store that ${kind} once strands no task: neither between two attempts nor before one`, async () => {
    const meant = [
      ({ dueAt }: TaskChange) => dueAt !== undefined && dueAt > 0,
      ({ attempt, dueAt }: TaskChange) => attempt === 2 && dueAt === 0,
    ]
    for (const isMeant of meant) {
      const store = new Refusing(isSync)
      store.refuseOnce(isMeant)
      const node = new Node({ store }).tool(
        'flaky',
        (run) => {
          if (run.attempt === 1) throw new Error('flaky')
          return DONE
        },
        { retries: 1 },
      )
      const { id } = await node.start('flaky')
      await node.clock.pass(60_000)
      expect(store.refused).toHaveLength(1)
      expect(await node.record(id)).toMatchObject({ status: 'completed', attempt: 2 })
    }
  })

  test(`a store that ${kind} is reported where nobody waits for it`, async () => {
    const store = new Refusing(isSync)
    let running: Run | undefined
    const node = new Node({ store }).tool('work', (run) => ((running = run), never()))
    await node.start('work')
    await settled()
    store.refuses = () => true
    running!.progress('one')
    running!.keepAnswer('sure', QUESTION, { action: 'accept' })
    running!.progress('two')
    await node.clock.pass(1000)
    expect(node.reports).toEqual(Array(3).fill('the task store failed'))
    const head = store.head.bind(store)
    store.head = () => {
      throw new Error('busy')
    }
    node.tasks.noticed(running!.head!.id)
    store.head = head
    expect(node.reports).toHaveLength(4)
  })

  test(`a store that ${kind} once loses no answer`, async () => {
    const store = new Refusing(isSync)
    const node = new Node({ store }).tool('ask', async (run) => ({
      content: [],
      answer: await run.question('sure', QUESTION),
    }))
    const { id } = await node.start('ask')
    await settled()
    store.refuseOnce(() => true)
    const answer = async (): Promise<boolean> =>
      node.tasks.answer(id, 'ann', [['sure.1', { action: 'accept' }]])
    const both = await Promise.allSettled([answer(), answer()])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    await settled()
    expect(await node.record(id)).toMatchObject({
      status: 'completed',
      outcome: expect.stringContaining('"action":"accept"') as string,
    })
  })

  test(`after a store that ${kind} once, changes of other nodes are noticed`, async () => {
    for (const event of ['progress', 'cancel']) {
      const store = new Refusing(isSync)
      const clock = new FakeClock()
      const stopped: unknown[] = []
      const node = new Node({ store, clock }).tool('hang', (run) => {
        run.call.signal.addEventListener('abort', () => stopped.push(run.tool))
        if (event === 'progress') run.progress('half')
        return never()
      })
      store.refuseOnce(() => true)
      const { id } = await node.start('hang')
      await settled()
      const cancel = async (): Promise<unknown> => node.tasks.cancel(id, 'ann')
      if (event === 'cancel') await cancel().catch(() => undefined)
      const other = new Node({ store, clock })
      await other.tasks.start()
      await other.tasks.cancel(id, 'ann')
      await settled()
      expect(store.refused).toHaveLength(1)
      expect(stopped).toEqual(['hang'])
    }
  })
}

test.each([true, false])(
  'a message of progress that the store refuses is written with the next change (%s)',
  async (isSync) => {
    const store = new Refusing(isSync)
    const door = new Deferred<void>()
    store.refuseOnce(({ statusMessage }) => statusMessage === 'half')
    const node = new Node({ store }).tool('work', async (run) => {
      run.progress('half')
      await door.promise
      return DONE
    })
    const { id } = await node.start('work')
    await node.clock.pass(2000)
    expect(store.refused).toHaveLength(1)
    expect(await node.record(id)).toMatchObject({ statusMessage: '' })
    door.resolve()
    await settled()
    expect(await node.record(id)).toMatchObject({ status: 'completed', statusMessage: 'half' })
  },
)
