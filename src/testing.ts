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
export { taskStoreContract } from './testing/task-store-contract.ts'
export type { ContractCheck, TaskStoreContractOptions } from './testing/contract.ts'
