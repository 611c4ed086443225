import { beforeAll, describe, expect, test } from 'vitest'
import { bundle, BUDGETS, CLIENT_PROGRAM, type Bundle } from '../../tools/bundle.ts'

describe('an HTTP client bundled for browsers', () => {
  let client: Bundle

  beforeAll(async () => {
    client = await bundle({ program: CLIENT_PROGRAM, platform: 'browser', from: 'source' })
  })

  test('imports nothing and uses no global of Node', () => {
    expect(client.imports).toEqual([])
    expect(client.nodeGlobals).toEqual([])
    expect(client.code).not.toContain('node:')
  })

  test('stays within its size', () => {
    expect(client.gzip).toBeLessThanOrEqual(BUDGETS.client)
  })

  test('leaves for later what not every client needs', () => {
    const later = [...client.later.keys()]
    expect(later).toContain('src/client/handshake.ts')
    expect(later).toContain('src/schema/typebox.ts')
    expect(later).toContain('src/transport/http/client/listen.ts')
    expect(later).toContain('src/client/watch.ts')
    expect(later).toContain('src/client/answers.ts')
  })

  test('has no part that starts programs or serves', () => {
    const files = [...client.inputs.keys()]
    expect(
      files.filter((file) => /^src\/(server|transport\/(stdio|memory)|schema|uri-template)\//.test(file)),
    ).toEqual([])
  })
})
