import { beforeAll, describe, expect, test } from 'vitest'
import { bundleSplit, gzipSize, type SplitBundle } from '../../tools/size/bundle.ts'
import { programOf, TASKS } from '../../tools/size/programs.ts'
import { CLIENT_TARGETS } from '../../tools/size/targets.ts'

describe('an HTTP client bundled for browsers', () => {
  let client: SplitBundle

  beforeAll(async () => {
    client = await bundleSplit({ ...programOf('Pierhead', TASKS.client), from: 'source' })
  })

  test('imports nothing and uses no global of Node', () => {
    expect(client.imports).toEqual([])
    expect(client.nodeGlobals).toEqual([])
    expect(client.code).not.toContain('node:')
  })

  test('stays within its size', () => {
    expect(gzipSize(client.code)).toBeLessThanOrEqual(CLIENT_TARGETS.sources)
  })

  test('leaves for later what not every client needs', () => {
    expect(client.later).toContain('src/client/handshake.ts')
    expect(client.later).toContain('src/client/checking.ts')
    expect(client.later).toContain('src/transport/http/client/listen.ts')
    expect(client.later).toContain('src/client/watch.ts')
    expect(client.later).toContain('src/client/answers.ts')
  })

  test('has no part that starts programs or serves', () => {
    expect(
      client.inputs.filter((file) =>
        /^src\/(server|transport\/(stdio|memory)|schema|uri-template)\//.test(file),
      ),
    ).toEqual([])
  })
})
