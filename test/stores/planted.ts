import { describe, expect, test } from 'vitest'
import { type StoreDriver, type StoreKind } from '../../src/stores.ts'
import { KITS } from './kits.ts'

type StoreOf<Kind extends StoreKind> = NonNullable<StoreDriver[Kind]>

/** For each check the fault that it must find: some methods that are replaced, or drivers that do not share. */
export type Faults<Kind extends StoreKind> = Readonly<
  Record<
    string,
    readonly [fault: string, plant: 'unshared' | ((store: StoreOf<Kind>) => Partial<StoreOf<Kind>>)]
  >
>

/** Lets a step of another happen first. */
export const later = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Checks that each check of a contract finds its fault, and nothing without it. */
export function findsPlanted<Kind extends Exclude<StoreKind, 'tasks'>>(
  kind: Kind,
  faults: Faults<Kind>,
  open: () => StoreDriver,
): void {
  describe(`the contract of ${kind}`, () => {
    const planted = Object.entries(faults).map(([name, [fault, plant]]) => [fault, name, plant] as const)
    test.each(planted)('finds that %s (%s)', async (_, name, plant) => {
      const places = new Map<string, StoreDriver>()
      const share = (place: string): StoreDriver => {
        const driver = places.get(place) ?? open()
        places.set(place, driver)
        return { ...driver, close() {} }
      }
      const faulty = (place: string): StoreDriver => {
        if (plant === 'unshared') return open()
        const driver = share(place)
        return { ...driver, [kind]: replaced(driver[kind] as StoreOf<Kind>, plant) }
      }
      const check = (opened: (place: string) => StoreDriver, timeout: number): Promise<void> | undefined =>
        KITS[kind]({ open: opened, shared: true, timeout })
          .find((one) => one.name === name)
          ?.run()
      await expect(check(faulty, 100)).rejects.toThrow(/expected .*, got/s)
      await expect(check(share, 20_000)).resolves.toBeUndefined()
      for (const driver of places.values()) await driver.close()
    })

    test('each check finds a fault', () => {
      const names = KITS[kind]({ open }).map(({ name }) => name)
      expect(names).toEqual(Object.keys(faults))
    })
  })
}

/** A store with some methods replaced. */
function replaced<Store extends object>(store: Store, plant: (store: Store) => Partial<Store>): Store {
  const faults = plant(store)
  return new Proxy(store, {
    get(_target, name) {
      const owner = (name in faults ? faults : store) as Record<string | symbol, unknown>
      const member = owner[name]
      return typeof member === 'function' ? (member.bind(owner) as unknown) : member
    },
  })
}
