import type { FieldChanges, SessionFields, SessionStore } from '../rpc/session-store.ts'
import { assertSame } from './contract.ts'
import { LONGER_MS, newSession, ROOMY, sorted } from './session-samples.ts'
import type { StoreChecks } from './store-contract.ts'

/** The fields that a node has after a use, if it had others with the version that it knew. */
async function usedFields(
  store: SessionStore,
  id: string,
  known: number,
  before: SessionFields,
): Promise<unknown> {
  const { fields, changes = new Map() } = (await store.use(id, known, LONGER_MS)) ?? {}
  const now = new Map(fields ?? before)
  for (const [name, text] of changes)
    if (text === null) now.delete(name)
    else now.set(name, text)
  return sorted(now)
}

/** The checks of what nodes learn that know a session, or expect another one. */
export const CHANGE_CHECKS: StoreChecks<SessionStore> = {
  async 'a node that knows an earlier version gets only what has changed'({ store, other }) {
    const fields = new Map([
      ['kept', 'x'.repeat(100_000)],
      ['changed', '1'],
      ['removed', '2'],
    ])
    const { id, ...rest } = newSession({ fields })
    await store.create({ id, ...rest }, ROOMY)
    const { version } = (await store.use(id, undefined, LONGER_MS)) ?? {}
    await store.change(id, new Map([['changed', 'a']]))
    await other.change(
      id,
      new Map([
        ['changed', 'b'],
        ['removed', null],
      ]),
    )
    const last = await store.change(id, new Map([['added', '"']]))
    const used = await other.use(id, version, LONGER_MS)
    const expected = [
      ['added', '"'],
      ['changed', 'b'],
      ['removed', null],
    ]
    assertSame([used?.version, used?.fields], [last, undefined], 'use answers')
    const changes = [...(used?.changes ?? [])].toSorted(([one], [two]) => (one < two ? -1 : 1))
    assertSame(changes, expected, 'the changes')
  },

  async 'a node gets the fields as they are, whatever version it knows'({ store, other }) {
    const { id, ...rest } = newSession()
    await store.create({ id, ...rest }, ROOMY)
    const { version = 0, fields = new Map() } = (await store.use(id, undefined, LONGER_MS)) ?? {}
    const states = new Map<number, SessionFields>([[version, fields]])
    let state = new Map(fields)
    for (let index = 0; index < 60; index++) {
      // Some have long names, many names, or none.
      const name = index % 9 === 0 ? `${index % 4} ${'é'.repeat(20_000)}` : `${index % 7}`
      const many = Array.from(
        { length: index % 20 === 0 ? 300 : 0 },
        (_, nth) => [`more ${nth}`, `${index}`] as const,
      )
      const change: FieldChanges = new Map(
        index % 10 === 3 ? [] : [[name, index % 3 === 0 ? null : `${index}`], ...many],
      )
      state = new Map(state)
      for (const [field, text] of change)
        if (text === null) state.delete(field)
        else state.set(field, text)
      states.set((await (index % 2 === 0 ? store : other).change(id, change)) ?? 0, state)
    }
    for (const [known, before] of states)
      assertSame(
        await usedFields(other, id, known, before),
        sorted(state),
        `the fields after version ${known}`,
      )
    assertSame(
      await usedFields(other, id, -1, new Map()),
      sorted(state),
      'the fields after an unknown version',
    )
  },

  async 'a session that is not as expected counts as none, and is not prolonged'({
    store,
    other,
    eventually,
  }) {
    const fields = new Map([
      ['owner', 'ada\0'],
      ['empty', ''],
    ])
    const { id, ...rest } = newSession({ fields })
    await store.create({ id, ...rest }, ROOMY)
    const use = async (
      expected: readonly (readonly [string, string | null])[],
      idleMs: number,
    ): Promise<unknown> => (await other.use(id, undefined, idleMs, new Map(expected)))?.fields?.size
    const same = [
      ['owner', 'ada\0'],
      ['empty', ''],
      ['none', null],
    ] as const
    assertSame([await use([], LONGER_MS), await use(same, LONGER_MS)], [2, 2], 'use answers')
    assertSame(await use(same, 1), 2, 'use for a moment answers')
    const others = [
      ['owner', 'ada'],
      ['owner', null],
      ['empty', null],
      ['none', ''],
      ['__proto__', ''],
    ] as const
    for (const [name, text] of others) {
      const unlike = [...same.filter(([one]) => one !== name), [name, text]] as const
      assertSame(await use(unlike, LONGER_MS), undefined, `use answers if ${name} is expected to be ${text}`)
    }
    await eventually('the end of a session', async () => (await use([], 1)) === undefined)
  },
}
