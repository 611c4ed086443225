import type { Choices } from '../protocol/choices.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { MiddlewareEntry } from '../rpc/dispatch.ts'
import { strictMime } from './strict/mime.ts'
import { strictProgress } from './strict/progress.ts'
import { strictShapes } from './strict/shapes.ts'

/** The members of every context that the checks use. */
export interface Asked {
  readonly method: string
  readonly params: JsonObject
}

/** The additional checks of a profile. */
export interface Checks {
  /** Throws if the definition of a tool is not allowed. */
  checkTool?(name: string, spec: { readonly description?: string | undefined }): void
  readonly middleware: MiddlewareEntry<Asked>
}

/** The additional checks for a set of choices. */
export function checksOf(choices: Choices): readonly Checks[] {
  return [strictShapes(choices), strictMime(choices), strictProgress(choices)].filter(
    (checks) => checks !== undefined,
  )
}
