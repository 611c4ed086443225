import { expect, test, vi } from 'vitest'
import { Node } from '../../test/harness/task-engine.ts'
import { settled } from '../../test/harness/task-clock.ts'
import { Deferred } from '../base/deferred.ts'
import { DIALECTS } from '../protocol/switches.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Run } from '../tasks/run.ts'
import { followTasks } from './task-following.ts'

test('a follower hears of each status at once, and of other changes no more often than it may poll', async () => {
  const heard: unknown[] = []
  const end = new Deferred<JsonObject>()
  let running: Run | undefined
  const node = new Node().tool('work', (run) => ((running = run), end.promise), { pollMs: 5000 })
  const head = await node.start('work')
  const peer = { dialect: DIALECTS['2026-07-28'] }
  const stop = followTasks(node.tasks, [head], peer, (task) =>
    heard.push(task['statusMessage'] ?? task['status']),
  )
  await settled()
  for (let step = 0; step < 20; step++) {
    running!.progress(`step ${step}`)
    await node.clock.pass(1000)
  }
  expect(heard).toEqual(['step 0', 'step 4', 'step 9', 'step 14', 'step 19'])
  running!.progress('last')
  end.resolve({ content: [] })
  await settled()
  expect(heard.at(-1)).toBe('last')
  expect(heard).toHaveLength(6)
  stop()
  expect(looksAt(node, head.id)).toBe(0)
})

test('a follower hears of an end that came before it followed, and of each state once', async () => {
  const heard: unknown[] = []
  const end = new Deferred<JsonObject>()
  const node = new Node().tool('work', () => end.promise)
  const before = await node.start('work')
  end.resolve({ content: [] })
  await settled()
  const peer = { dialect: DIALECTS['2026-07-28'] }
  followTasks(node.tasks, [before], peer, (task) => heard.push(task['status']))
  await settled()
  expect(heard).toEqual(['completed'])
  const after = (await node.store.head(before.id))!
  followTasks(node.tasks, [after], peer, (task) => heard.push(task['status']))
  node.tasks.followers.changed(before.id)
  await settled()
  expect(heard).toEqual(['completed', 'completed'])
  expect(looksAt(node, before.id)).toBe(0)
})

/** How many followers look at a task that changes. */
function looksAt({ tasks }: Node, id: string): number {
  const find = vi.spyOn(tasks, 'find')
  tasks.followers.changed(id)
  return find.mock.calls.length
}
