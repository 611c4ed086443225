import { copyOf } from '../base/copy-of.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Checker } from '../schema/checker.ts'
import { callOf, type Context } from '../server/context.ts'
import { holdChecked } from '../server/hold-checked.ts'
import { rethrown, settled } from '../server/settle.ts'
import { requireDeclared } from './declared.ts'
import type { Run } from './install.ts'

interface Parts {
  readonly id: string
  readonly checker: Checker | undefined
  readonly run: Run
}

/** Answers a method of an extension: only for clients that declared it, and only with valid params. */
export async function answer({ id, checker, run }: Parts, context: Context): Promise<Result> {
  const { method, params, peer } = callOf(context)
  requireDeclared(peer, id, method)
  const own = copyOf(params, '_meta', 'inputResponses', 'requestState')
  const checked = checker === undefined ? { ok: true as const, value: {} } : await checker.check(own)
  if (!checked.ok) throw mcpError(BAD_PARAMS, { method, reason: checked.issue })
  holdChecked(checked, context)
  return settled(context, async () => {
    const result = await rethrown(context, method, () => run(checked.value, context))
    const keepsNull = result === null && peer.dialect.adapter?.allowsNonObject(method) === true
    return (keepsNull ? null : (result ?? {})) as Result
  })
}
