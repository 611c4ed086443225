import type { StoreKind } from '../../src/stores.ts'
import {
  cacheStoreContract,
  changeBusContract,
  eventStoreContract,
  nodeStoreContract,
  rateStoreContract,
  sessionStoreContract,
  type ContractCheck,
  type StoreContractOptions,
} from '../../src/testing.ts'

/** A function that answers the checks of a contract. */
type Kit = (options: StoreContractOptions) => readonly ContractCheck[]

/** The contracts of all kinds of store that nodes share. */
export const KITS: Readonly<Record<Exclude<StoreKind, 'tasks'>, Kit>> = {
  sessions: sessionStoreContract,
  events: eventStoreContract,
  changes: changeBusContract,
  cache: cacheStoreContract,
  rates: rateStoreContract,
  nodes: nodeStoreContract,
}
