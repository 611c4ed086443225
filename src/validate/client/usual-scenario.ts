import { ALL, TRANSPORTS } from '../rule.ts'
import type { Scenario } from './scenario.ts'

/** The scenario for everything that needs no special server. */
export const USUAL: Scenario = {
  name: 'usual',
  does: 'is correct, and offers tools, resources and prompts; some tools ask questions',
  revisions: ALL,
  transports: TRANSPORTS,
  begin: () => ({}),
}
