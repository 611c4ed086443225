import type { Choices } from '../protocol/choices.ts'
import type { Call } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import { requestsCancel } from './erlmcp/requests-cancel.ts'
import { shutdown } from './erlmcp/shutdown.ts'

/** Answers a request that only a profile has. */
export type Route = (call: Call) => Result

/** The requests that a profile adds, by method. */
export function routesOf(choices: Choices): ReadonlyMap<string, Route> {
  return new Map([...requestsCancel(choices), ...shutdown(choices)])
}
