import { describe, expect, test } from 'vitest'
import { checkAll, connect, WAYS } from './ways.ts'

describe('over stdio', () => {
  checkAll(() => undefined)
})

/** After this long both clients lose patience and kill their child. */
const PATIENCE_MS = 2000

test.each(
  WAYS.filter(({ revision }) => revision >= '2025-11-25').map(
    (way) => [way.client, way.revision, way] as const,
  ),
)(
  'the child of the official %s client at %s ends by itself when its input ends [R064] [S4-5-9] [S3-4.4-1]',
  async (_, __, way) => {
    const peer = await connect(way)
    const started = performance.now()
    await peer.close()
    expect(performance.now() - started).toBeLessThan(PATIENCE_MS)
  },
)
