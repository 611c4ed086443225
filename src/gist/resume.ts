import { delayOf, pause } from '../base/backoff.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { Deadline } from '../rpc/deadline.ts'
import { reportProgress } from '../rpc/report-progress.ts'
import { readJob, readResult, type GistResult } from './answers.ts'
import type { ResultEnvelope } from './envelopes.ts'
import type { Poster, Posting } from './post.ts'

/** A job is asked for never sooner and never later than this, whatever the server says. */
const SOONEST_MS = 100
const LATEST_MS = 30_000
/** How often a question is repeated, since it changes nothing, while the server cannot be reached. */
const REPEATS = 8
const REPEAT_PAUSES = { firstMs: 250, maxMs: 10_000 }
/** Errors without an answer, after which the server may be back. */
const UNREACHABLE: ReadonlySet<string> = new Set(['connect_failed', 'connection_closed', 'stream_lost'])

/** Asks for a job until it has ended. */
export async function waitForJob(poster: Poster, id: string, posting: Posting): Promise<GistResult> {
  const { onProgress, totalMs, signal, clock } = posting
  const deadline = new Deadline({
    method: `job ${id.slice(0, 64)}`,
    idleMs: Infinity,
    totalMs,
    clock,
    signal,
  })
  const times = { ...posting, signal: deadline.signal, onProgress: undefined }
  let failures = 0
  try {
    for (;;) {
      const asked = await ask(poster, id, times, failures)
      failures = asked.answer === undefined ? failures + 1 : 0
      if (asked.answer !== undefined) {
        const job = readJob(asked.answer)
        if (job === undefined) return readResult(asked.answer)
        if (job.job_id !== id) throw mcpError(BAD_ANSWER, { method: 'the job', issue: 'it is another job' })
        reportProgress(onProgress, deadline, job)
      }
      await pause(asked.afterMs, deadline.signal)
      if (deadline.reason !== undefined) throw deadline.reason
    }
  } finally {
    deadline.end()
  }
}

interface Asked {
  /** Undefined if the server could not be reached, or has no time. */
  readonly answer: ResultEnvelope | undefined
  readonly afterMs: number
}

async function ask(poster: Poster, id: string, posting: Posting, failures: number): Promise<Asked> {
  try {
    const answer = (await poster.job(id, posting)) as unknown as ResultEnvelope
    if (!isBusy(answer)) return { answer, afterMs: within((answer.poll_after ?? 1) * 1000) }
    if (failures >= REPEATS) return { answer, afterMs: 0 }
  } catch (error) {
    const isOver = posting.signal?.aborted === true || failures >= REPEATS
    if (isOver || !(error instanceof McpError) || !UNREACHABLE.has(error.kind)) throw error
  }
  return { answer: undefined, afterMs: delayOf(failures, REPEAT_PAUSES, Math.random) }
}

/** Whether the server could not say anything about the job. What became of a job names the job. */
function isBusy({ status, job_id: id, error }: ResultEnvelope): boolean {
  return status === 'error' && id === undefined && error?.refusal?.['retryable'] === true
}

function within(ms: unknown): number {
  return typeof ms === 'number' && ms >= 0 ? Math.min(LATEST_MS, Math.max(SOONEST_MS, ms)) : 1000
}
