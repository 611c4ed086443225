import { expect, test } from 'vitest'
import { TaskIds } from '../store/tasks-sqlite-ids.ts'
import { newTaskId } from './id.ts'

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
