import { member, type Message } from '../message.ts'
import { failed, unless, type Verdict } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { OUR_INFO, type Reply } from '../session.ts'

/** A version that no server supports. */
export const UNKNOWN_VERSION = '2099-01-01'

/** The message of an error. */
export function textOf(error: Message | undefined): string {
  return String(member(error, 'message')).slice(0, 200)
}

/** A request to initialize with any version. */
export function initializeMessage(id: number, protocolVersion: string): Message {
  return {
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: OUR_INFO },
  }
}

/** Whether a request was refused with a code, and over HTTP with a status. */
export function refusal(
  { transport }: ServerSubject,
  { error, problem, http }: Reply,
  {
    code,
    status,
    what,
    or = code,
  }: {
    readonly code: number
    readonly status: number
    readonly what: string
    /** Another code that is right too. */
    readonly or?: number | undefined
  },
): Verdict {
  if (error === undefined) return failed(problem ?? `${what} is answered with a result`)
  if (error['code'] !== code && error['code'] !== or)
    return failed(`${what} is answered with code ${String(error['code'])} instead of ${code}`)
  return unless(
    transport !== 'http' || http?.status === status
      ? undefined
      : `${what} is answered with status ${http?.status ?? 0} instead of ${status}`,
  )
}
