import { describe, expect, test } from 'vitest'
import { close, createLibrary, open } from '../../examples/library/app.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { refusal } from '../harness/wire-error.ts'
import { callerOf } from './caller.ts'

describe.each(REVISIONS)('the library at %s', (revision) => {
  test('lists to each reader what they borrowed, and says when that changes', async () => {
    const app = createLibrary()
    const [ann, bob] = [
      await callerOf(app, revision, { sub: 'ann' }),
      await callerOf(app, revision, { sub: 'bob' }),
    ]
    await ann.follow({ lists: ['resources'] })
    expect(await ann.get('resources/list')).toEqual({ resources: [] })
    await ann.call('borrow', { id: 'emma' })
    await ann.hear('notifications/resources/list_changed')
    const title = revision >= '2025-06-18' ? { title: 'Emma' } : {}
    expect(await ann.get('resources/list')).toEqual({
      resources: [{ uri: 'books://emma', name: 'emma', mimeType: 'text/plain', ...title }],
    })
    expect(await bob.get('resources/list')).toEqual({ resources: [] })
    expect(await ann.get('resources/read', { uri: 'books://emma' })).toMatchObject({
      contents: [{ text: expect.stringContaining('Emma Woodhouse') }],
    })
    await refusal(bob.request('resources/read', { uri: 'books://emma' }))
    for (const one of [ann, bob]) await one.close()
  })

  test('closes and opens', async () => {
    const app = createLibrary()
    const ann = await callerOf(app, revision, { sub: 'ann' })
    await ann.follow({ lists: ['tools'] })
    close(app)
    await ann.hear('notifications/tools/list_changed')
    expect(await ann.get('tools/list')).toEqual({ tools: [] })
    expect((await refusal(ann.call('borrow', { id: 'emma' }))).message).toBe('tool "borrow" does not exist')
    open(app, '18:00')
    await ann.hear('notifications/tools/list_changed', 2)
    expect(await ann.get('tools/list')).toMatchObject({
      tools: [{ description: 'Borrows a book; the library is open until 18:00.' }],
    })
    expect(await ann.call('borrow', { id: 'emma' })).toMatchObject({ isError: false })
    await ann.close()
  })
})
