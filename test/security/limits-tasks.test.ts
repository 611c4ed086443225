import { expect, test } from 'vitest'
import type { Client, TaskHandle } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'

const WITH_TASKS = REVISIONS.filter((revision) => revision >= '2025-11-25')

interface Farm {
  /** The client of a caller. */
  of(sub: string): Promise<Client>
  /** Lets the tool `hang` end. */
  release(): void
}

function farm(revision: (typeof REVISIONS)[number], limits: Readonly<Record<string, number>>): Farm {
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const app = createServer({ name: 'farm', version: '1', limits, log: () => undefined })
    .tool('hang', { task: 'required' }, async () => {
      await released
      return 'done'
    })
    .tool('large', { task: 'required' }, () => 'x'.repeat(5000))
  return { of: (sub) => testClient(app, { revision, auth: { sub } }), release }
}

const hang = (client: Client): Promise<TaskHandle> => client.start('hang') as Promise<TaskHandle>

test.each(WITH_TASKS)('limits.callerTasks one caller has only so many tasks, at %s', async (revision) => {
  const { of, release } = farm(revision, { callerTasks: 2 })
  await using ann = await of('ann')
  await using bob = await of('bob')
  const first = await hang(ann)
  await hang(ann)
  await expect(hang(ann)).rejects.toMatchObject({
    kind: 'too_many_caller_tasks',
    hint: expect.stringContaining('limits.callerTasks'),
  })
  const other = await hang(bob)
  release()
  expect([await first.result(), await other.result()]).toEqual(['done', 'done'])
})

test.each(WITH_TASKS)('limits.tasks a server has only so many tasks, at %s', async (revision) => {
  const { of, release } = farm(revision, { tasks: 2 })
  await using ann = await of('ann')
  await using bob = await of('bob')
  await hang(ann)
  const last = await hang(bob)
  await expect(hang(bob)).rejects.toMatchObject({
    kind: 'too_many_tasks',
    hint: expect.stringContaining('limits.tasks'),
  })
  release()
  expect(await last.result()).toBe('done')
})

test.each(WITH_TASKS)('limits.taskResultBytes a larger result fails its task, at %s', async (revision) => {
  const { of } = farm(revision, { taskResultBytes: 1000 })
  await using ann = await of('ann')
  await expect(ann.call('large')).rejects.toMatchObject({
    kind: 'task_result_too_large',
    hint: expect.stringContaining('limits.taskResultBytes'),
  })
})

test.each(WITH_TASKS)('limits.taskBytes tasks share so much memory, at %s', async (revision) => {
  const { of, release } = farm(revision, { taskBytes: 4000 })
  await using ann = await of('ann')
  await expect(
    (async () => {
      for (let count = 0; count < 10; count++) await hang(ann)
    })(),
  ).rejects.toMatchObject({ kind: 'tasks_too_large', hint: expect.stringContaining('limits.taskBytes') })
  release()
})

test.each(WITH_TASKS)('limits.taskMs no task is kept for longer, at %s', async (revision) => {
  const { of, release } = farm(revision, { taskMs: 5000 })
  await using ann = await of('ann')
  const { id } = await hang(ann)
  const task = await ann.request('tasks/get', { taskId: id })
  expect(task['ttlMs'] ?? task['ttl']).toBe(5000)
  release()
})
