export {
  everyRevision,
  testClient,
  TestClient,
  type Recorded,
  type TestAnswers,
  type TestOptions,
} from './testing/test-client.ts'
export type { AnyTools } from './client/typed.ts'
export type { Faults } from './testing/faults.ts'
export { changeBusContract } from './testing/bus-contract.ts'
export { cacheStoreContract } from './testing/cache-contract.ts'
export { eventStoreContract } from './testing/event-contract.ts'
export { nodeStoreContract } from './testing/node-contract.ts'
export { rateStoreContract } from './testing/rate-contract.ts'
export { sessionStoreContract } from './testing/session-contract.ts'
export { taskStoreContract } from './testing/task-store-contract.ts'
export type { ContractCheck, TaskStoreContractOptions } from './testing/contract.ts'
export type { StoreContractOptions } from './testing/store-contract.ts'
