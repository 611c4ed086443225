import { member, type Received } from '../message.ts'
import { failed, passed, unless, type Verdict } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { HttpWire } from '../wire-http.ts'

/** The code for headers that differ from the body, at 2026-07-28. */
const HEADER_MISMATCH = -32_020

/** The most characters of a text that a finding shows. */
const MOST_SHOWN = 60

export interface BadText {
  /** What is sent. */
  readonly text: string
  /** The code of the error. */
  readonly code: number
  /** The method in the header, at 2026-07-28 over HTTP. */
  readonly method: string
  /** The status that the error must have over HTTP. Default: any. */
  readonly status?: number | undefined
  /** Whether no header can match the text, so that a server may refuse it for that at 2026-07-28. */
  readonly isUnmatched?: boolean | undefined
}

/** Sends a text that is no good message. The server must answer with an error, and go on. */
export async function checkBadText(
  subject: ServerSubject,
  { text, code, method, status, isUnmatched = false }: BadText,
): Promise<Verdict> {
  const session = await subject.session()
  const from = subject.trace.mark
  const http = await session.wire.send(text, { headers: session.headersOf({ method }) })
  const isError = ({ messages }: Received): boolean =>
    messages.some((message) => Object.hasOwn(message, 'error'))
  const received = await session.waitBriefly(isError, from)
  const error = received?.messages.find((message) => Object.hasOwn(message, 'error'))
  const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
  if (error === undefined) {
    if (http !== undefined && http.status === 400) return passed
    return failed(`${shown} gets no error${http === undefined ? '' : `, but status ${http.status}`}`)
  }
  const found = member(error, 'error', 'code')
  const isMismatch =
    isUnmatched && subject.isModern && session.wire instanceof HttpWire && found === HEADER_MISMATCH
  if (found !== code && !isMismatch)
    return failed(`${shown} is answered with code ${String(found)} instead of ${code}`)
  const wanted = isMismatch ? 400 : status
  if (session.wire instanceof HttpWire && wanted !== undefined && http?.status !== wanted)
    return failed(`${shown} is answered with status ${http?.status ?? 0} instead of ${wanted}`)
  const id = error['id'] ?? null
  return unless(
    id === null || text.includes(`"id":${JSON.stringify(id)}`)
      ? undefined
      : `the error has the id ${JSON.stringify(id)}`,
  )
}
