export {
  everyRevision,
  testClient,
  TestClient,
  type Recorded,
  type TestAnswers,
  type TestOptions,
} from './testing/test-client.ts'
export type { Faults } from './testing/faults.ts'
