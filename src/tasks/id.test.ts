import { expect, test } from 'vitest'
import { TaskIds } from '../store/tasks-sqlite-ids.ts'
import { isTaskId, newTaskId } from './id.ts'

test.each([
  ['usual ids', newTaskId],
  [
    'ids of SQLite',
    (
      (ids) => () =>
        ids.next()
    )(TaskIds.of('0f'.repeat(16)) as TaskIds),
  ],
] as const)('%s do not look like options of a command', (_, next) => {
  const ids = Array.from({ length: 2000 }, next)
  expect(ids.filter((id) => !/^[A-Za-z0-9_][\w-]{21,23}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})

test.each([
  ['usual ids', newTaskId(), true],
  ['UUIDs', crypto.randomUUID(), true],
  ['the shortest', 'x'.repeat(21), true],
  ['shorter ones', 'x'.repeat(20), false],
  ['the longest', 'x'.repeat(64), true],
  ['longer ones', 'x'.repeat(65), false],
  ['ones with other characters', `${'x'.repeat(22)}ä`, false],
  ['ones with a line break', `${'x'.repeat(22)}\n`, false],
  ['nothing', '', false],
])('%s may be those of tasks, or not', (_, id, isPossible) => {
  expect(isTaskId(id)).toBe(isPossible)
})
