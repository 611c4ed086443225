import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Revision } from 'pierhead'
import type { Check } from './check.ts'
import { CALLS } from './checks-calls.ts'
import { LISTS } from './checks-lists.ts'
import { QUESTIONS } from './checks-questions.ts'
import { RUNNING } from './checks-running.ts'
import type { Peer, Way } from './peer.ts'
import { connectV1 } from './v1.ts'
import { connectV2 } from './v2.ts'

const CHECKS: readonly Check[] = [...LISTS, ...CALLS, ...RUNNING, ...QUESTIONS]
const SHAKEN: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

/** Both official clients at every revision that they speak. */
export const WAYS: readonly Omit<Way, 'url'>[] = [
  ...SHAKEN.map((revision) => ({ client: 'v1' as const, revision })),
  ...[...SHAKEN, '2026-07-28' as const].map((revision) => ({ client: 'v2' as const, revision })),
]

export function connect(way: Way): Promise<Peer> {
  return way.client === 'v1' ? connectV1(way) : connectV2(way)
}

/** Runs every check that is meant for every way over one transport. */
export function checkAll(
  url: () => string | undefined,
  over: typeof WAYS = WAYS,
  isMeant: (check: Check) => boolean = () => true,
): void {
  const ways = over.map((way) => [way.client, way.revision, way] as const)
  describe.each(ways)('official %s client at %s', (_, revision, way) => {
    let peer: Peer
    beforeAll(async () => {
      const at = url()
      peer = await connect(at === undefined ? way : { ...way, url: at })
    })
    afterAll(() => peer.close())

    test.each(checksAt(revision, isMeant))('%s', async (__, check) => {
      await check.run(peer, revision)
      expect(peer.errors.splice(0)).toEqual([])
    })
  })
}

function checksAt(revision: Revision, isMeant: (check: Check) => boolean): (readonly [string, Check])[] {
  return CHECKS.filter(({ since = revision, until = revision }) => since <= revision && revision <= until)
    .filter(isMeant)
    .map((check) => [check.title, check] as const)
}
