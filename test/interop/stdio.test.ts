import { ChildProcess } from 'node:child_process'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { checkAll, connect, WAYS } from './ways.ts'

describe('over stdio', () => {
  checkAll(() => undefined)
})

test.each(
  WAYS.filter(({ revision }) => revision >= '2025-11-25').map(
    (way) => [way.client, way.revision, way] as const,
  ),
)(
  'the child of the official %s client at %s ends by itself when its input ends [R064] [S4-5-9] [S3-4.4-1]',
  async (_, __, way) => {
    const peer = await connect(way)
    // With the clock stopped the client never loses patience with its child.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const kill = vi.spyOn(ChildProcess.prototype, 'kill')
    onTestFinished(() => kill.mockRestore())
    await peer.close()
    expect(kill).not.toHaveBeenCalled()
  },
)
