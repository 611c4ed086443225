import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { createFixture } from './fixture.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { checkServer, type Outcome } from '../../src/validate/run.ts'
import type { Rule, Transport } from '../../src/validate/rule.ts'
import { isSpoken } from '../../src/validate/server-run.ts'
import { ServerSubject } from '../../src/validate/server-subject.ts'
import { Trace } from '../../src/validate/trace.ts'
import { faultyDoor, serveEverywhere, type Served } from './faulty-door.ts'
import type { Fault } from './fault.ts'

/** Targets for the time of answers, in milliseconds. */
type Latency = Readonly<Record<string, number>>

type ServerRule = Rule<ServerSubject>

/** How long to wait for an answer that does not come. */
const PATIENCE_MS = 2_500

interface OutcomeOptions {
  readonly revision: Revision
  readonly transport: Transport
  readonly fault?: Fault | undefined
  /** Headers of the user, over HTTP. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly latency?: Latency | undefined
  /** Whether tools may be called. Default: `true`. */
  readonly mayCall?: boolean | undefined
}

/** Another correct server, and how it is reached. */
export interface Setting {
  readonly createApp?: (() => Promise<App> | App) | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly latency?: Latency | undefined
}

/** Checks rules against the correct server, through a fault if there is one. */
export async function outcomesOf(
  served: Served,
  rules: readonly ServerRule[],
  { revision, transport, fault, headers, latency, mayCall = true }: OutcomeOptions,
): Promise<readonly Outcome[]> {
  const { door, close } = await faultyDoor(served, transport, fault, headers)
  const trace = new Trace()
  const subject = new ServerSubject({ door, revision, trace, mayCall, ms: PATIENCE_MS, latency })
  try {
    return await checkServer(rules, subject, {
      until: performance.now() + 60_000,
      signal: new AbortController().signal,
    })
  } finally {
    await subject.close()
    await close()
  }
}

/**
 * Proves rules: the correct server passes each of them at every revision and on every transport where it applies, and each fault is
 * caught there by the rule that it breaks. Variants are servers that are right in another way, and pass.
 */
export function prove(
  title: string,
  rules: readonly ServerRule[],
  faults: readonly Fault[],
  variants: readonly Fault[] = [],
  { createApp = createFixture, headers, latency }: Setting = {},
): void {
  let served: Served
  beforeAll(async () => {
    served = await serveEverywhere(await createApp())
  })
  afterAll(() => served.close())

  const places = placesOf(rules)
  describe(`${title}: the correct server`, () => {
    test.each(places)('passes all rules at $revision on $transport', async ({ revision, transport }) => {
      const outcomes = await outcomesOf(served, rules, { revision, transport, headers, latency })
      const wrong = outcomes.filter(({ is }) => is !== 'passed' && is !== 'absent')
      expect(wrong.map(({ id, is, found }) => `${id} ${is}: ${found ?? ''}`)).toEqual([])
    })
  })

  describe.concurrent(`${title}: faults`, () => {
    const cases = [...faults, ...variants].flatMap((fault) => {
      const rule = rules.find(({ id }) => id === fault.rule)
      if (rule === undefined) throw new Error(`there is no rule ${fault.rule}`)
      return placesOf([rule])
        .filter(
          ({ revision, transport }) =>
            (fault.revisions?.includes(revision) ?? true) && (fault.transports?.includes(transport) ?? true),
        )
        .map((place) => ({ ...place, rule, fault, id: fault.rule, does: fault.does }))
    })
    test.for(cases)(
      '$id sees a server that $does, at $revision on $transport',
      async ({ rule, fault, revision, transport }, { expect }) => {
        const [outcome] = await outcomesOf(served, [rule], { revision, transport, fault, headers, latency })
        expect(outcome).toMatchObject({ id: rule.id, is: variants.includes(fault) ? 'passed' : 'failed' })
      },
    )
  })

  test(`${title}: every rule has a fault at every revision and on every transport where it applies`, () => {
    const unproven = rules.flatMap((rule) =>
      placesOf([rule])
        .filter(
          ({ revision, transport }) =>
            !faults.some(
              (fault) =>
                fault.rule === rule.id &&
                (fault.revisions?.includes(revision) ?? true) &&
                (fault.transports?.includes(transport) ?? true),
            ),
        )
        .map(({ revision, transport }) => `${rule.id} at ${revision} on ${transport}`),
    )
    expect(unproven).toEqual([])
  })
}

function placesOf(
  rules: readonly ServerRule[],
): readonly { readonly revision: Revision; readonly transport: Transport }[] {
  const all = rules.flatMap(({ revisions, transports }) =>
    revisions.flatMap((revision) =>
      transports
        .filter((transport) => isSpoken(revision, transport))
        .map((transport) => ({ revision, transport })),
    ),
  )
  return [...new Map(all.map((one) => [`${one.revision} ${one.transport}`, one])).values()]
}
