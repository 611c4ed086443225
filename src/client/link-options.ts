import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { OpenLine } from '../rpc/line.ts'
import type { ParamHeader } from '../wire/param-headers.ts'
import type { Emitter } from './events.ts'
import type { Progress } from './options.ts'
import type { Answer } from './questions.ts'

export interface LinkOptions {
  readonly open: OpenLine
  /** Names the server where its revision is remembered. */
  readonly key: string | undefined
  readonly client: JsonObject
  readonly revision: Revision | undefined
  readonly idleMs: number
  readonly totalMs: number
  readonly probeMs: number
  /** The highest id of a request. */
  readonly maxId: number
  readonly events: Emitter
}

export interface RequestOptions {
  readonly idleMs?: number | undefined
  readonly totalMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly paramHeaders?: readonly ParamHeader[] | undefined
  /** Whether the request may be sent again when its answer was lost. */
  readonly repeatable?: boolean | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Whether to send what needs a capability that the server did not declare. */
  readonly undeclared?: boolean | undefined
  /** Told the id of each attempt. */
  readonly onId?: ((id: number) => void) | undefined
}

/** What stands behind a link. */
export interface LinkOwner {
  /** Takes notifications that change nothing here. */
  told(method: string, params: JsonObject): void
  /** Answers a question of the server. */
  readonly answer: Answer
}
