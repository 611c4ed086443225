import { pause } from '../base/backoff.ts'
import { toMs, type Duration } from '../base/duration.ts'
import type { Soon } from '../rpc/soon.ts'
import type { StoreDriver, StoreKind } from '../store/driver.ts'
import type { ContractCheck } from './contract.ts'

/** How a contract reaches the store that it checks. */
export interface StoreContractOptions {
  /** Opens a driver at a place: a name of letters, digits and hyphens that is new for each check. A place is empty at first. */
  readonly open: (place: string) => Soon<StoreDriver>
  /** Whether opening a place again gives a driver that shares everything with the first one. Then sharing is checked too. Default: `false`. */
  readonly shared?: boolean | undefined
  /** How long news may take to arrive, and things whose time is over may take to vanish. Default: 20 s. */
  readonly timeout?: Duration | undefined
}

/** The store of one check. */
export interface Given<Store> {
  /** A store that is empty at first. */
  readonly store: Store
  /** The store of another driver at the same place; the same store if drivers do not share. */
  readonly other: Store
  /** Waits until a probe is true, and fails if it never is. */
  eventually(what: string, probe: () => Soon<boolean>): Promise<void>
}

/** The promises of a contract, with a check for each. */
export type StoreChecks<Store> = Readonly<Record<string, (given: Given<Store>) => Promise<void>>>

/** A time that no check takes. */
export const LONG_MS = 3_600_000

/** Longer than things that end after a millisecond need to vanish, and short enough to ask often. */
const PROBE_MS = 20

/** The checks of one kind of store, each with drivers of its own, which are closed at its end. */
export function storeChecks<Kind extends StoreKind>(
  kind: Kind,
  { open, shared = false, timeout = '20s' }: StoreContractOptions,
  checks: StoreChecks<NonNullable<StoreDriver[Kind]>>,
): readonly ContractCheck[] {
  const ms = toMs(timeout, 'timeout')
  return Object.entries(checks).map(([name, check]) => ({
    name,
    async run() {
      const place = `check-${crypto.randomUUID()}`
      const drivers = [await open(place)]
      if (shared) drivers.push(await open(place))
      try {
        const [store, other = store] = drivers.map((driver) => storeOf(driver, kind))
        if (store === undefined || other === undefined) throw new Error(`the driver has no ${kind}`)
        await check({ store, other, eventually: (what, probe) => eventually(ms, what, probe) })
      } finally {
        for (const driver of drivers) await driver.close()
      }
    },
  }))
}

function storeOf<Kind extends StoreKind>(
  driver: StoreDriver,
  kind: Kind,
): NonNullable<StoreDriver[Kind]> | undefined {
  return driver[kind] ?? undefined
}

async function eventually(ms: number, what: string, probe: () => Soon<boolean>): Promise<void> {
  const until = performance.now() + ms
  while (!(await probe())) {
    if (performance.now() > until) throw new Error(`${what}: expected within ${ms} ms, got nothing`)
    await pause(PROBE_MS)
  }
}
