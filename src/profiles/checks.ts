import type { Choices } from '../protocol/choices.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { MiddlewareEntry } from '../rpc/dispatch.ts'
import { strictMime } from './strict/mime.ts'
import { strictProgress } from './strict/progress.ts'
import { strictShapes } from './strict/shapes.ts'

/** What every context of a request has. */
export interface Asked {
  readonly method: string
  readonly params: JsonObject
}

/** What a profile looks at more closely. */
export interface Checks {
  /** Refuses the definition of a tool. */
  checkTool?(name: string, spec: { readonly description?: string }): void
  readonly middleware: MiddlewareEntry<Asked>
}

/** All that is checked besides. */
export function checksOf(choices: Choices): readonly Checks[] {
  return [strictShapes(choices), strictMime(choices), strictProgress(choices)].filter(
    (checks) => checks !== undefined,
  )
}
