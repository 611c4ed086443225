import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { createEverything } from './app.ts'
import { failure } from './gather.ts'
import { tap } from './tap.ts'

test.each(REVISIONS)(
  'requests of a client at %s have integer ids that are never used twice, however they end [S4-2-2] [S3-2.1-1]',
  async (revision) => {
    const server = tap(createEverything())
    await using client = await connect(server, { revision })
    const stop = new AbortController()
    const stopped = failure(client.call('wait', {}, { signal: stop.signal }))
    stop.abort()
    await stopped
    await failure(client.call('missing'))
    await Promise.all(Array.from({ length: 50 }, (_, at) => client.call('echo', { text: String(at) })))
    await client.ping()
    const requests = server.sent().filter(({ id, method }) => id !== undefined && method !== undefined)
    expect(requests.length).toBeGreaterThan(52)
    for (const { id, method } of requests) {
      expect(Number.isInteger(id)).toBe(true)
      expect(method).toEqual(expect.any(String))
    }
    expect(new Set(requests.map(({ id }) => id)).size).toBe(requests.length)
  },
)
