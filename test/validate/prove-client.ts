import { afterAll, describe, expect, test, vi } from 'vitest'
import type { Revision } from '../../src/protocol/revisions.ts'
import { removeBridge } from '../../src/validate/client/bridge.ts'
import type { StartableClient } from '../../src/validate/client/program.ts'
import { checkClient } from '../../src/validate/client-run.ts'
import { ClientSubject } from '../../src/validate/client-subject.ts'
import type { Outcome } from '../../src/validate/run.ts'
import type { Rule, Transport } from '../../src/validate/rule.ts'
import { isSpoken } from '../../src/validate/server-run.ts'
import type { ClientFault } from './client-fault.ts'
import { ownClient } from './own-client.ts'
import { rawClient } from './raw-client.ts'

type ClientRule = Rule<ClientSubject>

interface ClientPlace {
  readonly revision: Revision
  readonly transport: Transport
}

/** Checks rules against a client. */
export async function clientOutcomes(
  client: StartableClient,
  rules: readonly ClientRule[],
  { revision, transport }: ClientPlace,
): Promise<readonly Outcome[]> {
  const { signal } = new AbortController()
  const subject = new ClientSubject({
    client,
    revision,
    transport,
    signal,
    atOnce: 4,
    askMs: 500,
    // Many clients run at the same time, and load modules when they need them, so each may be slow.
    visitMs: 25_000,
    quietMs: 8_000,
  })
  return checkClient(rules, subject, { until: performance.now() + 30_000, signal })
}

/**
 * Proves rules for clients: two correct clients, our own and a small raw one, pass each of them at every revision and on every transport
 * where it applies, and each fault is caught there by the rule that it breaks. Variants are clients that are right in another way.
 */
export function proveClient(
  title: string,
  rules: readonly ClientRule[],
  faults: readonly ClientFault[],
  variants: readonly ClientFault[] = [],
): void {
  vi.setConfig({ maxConcurrency: 16, testTimeout: 30_000 })
  afterAll(removeBridge)
  const places = placesOf(rules)

  describe.concurrent(`${title}: correct clients`, () => {
    test.for(places)(
      'a raw client passes all rules at $revision on $transport',
      async (place, { expect }) => {
        expect(wrongIn(await clientOutcomes(rawClient(), rules, place))).toEqual([])
      },
    )
    test.for(places)('our client passes all rules at $revision on $transport', async (place, { expect }) => {
      expect(wrongIn(await clientOutcomes(ownClient(), rules, place))).toEqual([])
    })
  })

  describe.concurrent(`${title}: faults`, () => {
    const cases = [...faults, ...variants].flatMap((fault) => {
      const rule = rules.find(({ id }) => id === fault.rule)
      if (rule === undefined) throw new Error(`there is no rule ${fault.rule}`)
      return placesOf([rule])
        .filter((place) => isAt(fault, place))
        .map((place) => ({ ...place, rule, fault, id: fault.rule, does: fault.does }))
    })
    test.for(cases)(
      '$id sees a client that $does, at $revision on $transport',
      async ({ rule, fault, ...place }, { expect }) => {
        const [outcome] = await clientOutcomes(rawClient(fault), [rule], place)
        expect(outcome).toMatchObject({ id: rule.id, is: variants.includes(fault) ? 'passed' : 'failed' })
      },
    )
  })

  test(`${title}: every rule has a fault at every revision and on every transport where it applies`, () => {
    const unproven = rules.flatMap((rule) =>
      placesOf([rule])
        .filter((place) => !faults.some((fault) => fault.rule === rule.id && isAt(fault, place)))
        .map(({ revision, transport }) => `${rule.id} at ${revision} on ${transport}`),
    )
    expect(unproven).toEqual([])
  })
}

function wrongIn(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes
    .filter(({ is }) => is !== 'passed' && is !== 'absent')
    .map(({ id, is, found }) => `${id} ${is}: ${found ?? ''}`)
}

function isAt({ revisions, transports }: ClientFault, { revision, transport }: ClientPlace): boolean {
  return (revisions?.includes(revision) ?? true) && (transports?.includes(transport) ?? true)
}

function placesOf(rules: readonly ClientRule[]): readonly ClientPlace[] {
  const all = rules.flatMap(({ revisions, transports }) =>
    revisions.flatMap((revision) =>
      transports
        .filter((transport) => isSpoken(revision, transport))
        .map((transport) => ({ revision, transport })),
    ),
  )
  return [...new Map(all.map((one) => [`${one.revision} ${one.transport}`, one])).values()]
}
