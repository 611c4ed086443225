import { addErrors, type ErrorTable, type MakeError } from './error.ts'

/** The errors of servers that have more to do than they may. */
// oxfmt-ignore
export const QUEUE_ERRORS = {
  queue_full:           { where: 'wire', code: 1001, http: 429, refusal: 'QUEUE_CAP_EXCEEDED', retryable: true, text: '{limit} requests wait already until others are answered', hint: 'Try again later, or raise limits.queued.' },
  queue_bytes:          { where: 'wire', code: 1002, http: 429, refusal: 'QUEUE_BYTE_CAP_EXCEEDED', retryable: true, text: 'requests of more than {limit} characters would wait until others are answered', hint: 'Try again later, or raise limits.queuedBytes.' },
  queue_share:          { where: 'wire', code: 1003, http: 429, refusal: 'QUEUE_TENANT_CAP_EXCEEDED', retryable: true, text: '{limit} requests of this caller wait already until others are answered', hint: 'Wait for an answer before sending more, or raise limits.queuedPerCaller.' },
} as const
QUEUE_ERRORS satisfies ErrorTable

export type QueueErrorKind = keyof typeof QUEUE_ERRORS

export const queueError: MakeError<typeof QUEUE_ERRORS> = /* @__PURE__ */ addErrors(QUEUE_ERRORS)
