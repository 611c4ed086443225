import { expect, test } from 'vitest'
import { encodeJob } from './encode.ts'

test('the result of a job has no resultType', () => {
  const at = '2026-01-01T00:00:00Z'
  const result = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }
  const task = { taskId: 'a', status: 'completed', createdAt: at, lastUpdatedAt: at, result }
  const job = JSON.parse(encodeJob(task, { name: 'jobs', version: '1' })) as { result: object }
  expect(job.result).toEqual({ content: [{ type: 'text', text: 'done' }] })
})
