import { expect, test, vi } from 'vitest'
import { withMeta } from '../base/shared-params.ts'
import { withStored } from '../base/stored-member.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { REVISIONS } from '../protocol/revisions.ts'
import { DIALECTS } from '../protocol/switches.ts'
import { encodeNotification, encodeResult } from './encode.ts'

test.each(REVISIONS)('only objects are written as a result of %s', (revision) => {
  for (const method of ['tools/list', 'tools/call']) {
    for (const result of [undefined, null, [], [1], 'x', 3]) {
      const seal = (): unknown =>
        encodeResult(method, result as unknown as JsonObject, DIALECTS[revision], {})
      expect(seal).toThrow(`the result of ${method} is not an object`)
    }
  }
})

test.each(REVISIONS)(
  'the text of a notification keeps a member whose text is known, unread, in %s',
  (revision) => {
    const value = vi.fn<() => unknown>(() => ({ never: 'read' }))
    const task = withStored({ taskId: 't', _meta: { old: 1 } }, { name: 'result', text: '{"a":[1]}', value })
    const params = withMeta(task, { id: 7 })
    const text = encodeNotification('notifications/tasks', params, DIALECTS[revision])
    expect(JSON.parse(text)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tasks',
      params: { taskId: 't', _meta: { id: 7 }, result: { a: [1] } },
    })
    expect(value).not.toHaveBeenCalled()
  },
)
