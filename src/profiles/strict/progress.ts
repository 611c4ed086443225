import type { Choices } from '../../protocol/choices.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { mcpError } from '../../errors/error.ts'
import { BAD_PROGRESS_TOKEN } from '../../errors/profiles.ts'
import { META } from '../../protocol/meta.ts'
import type { Checks } from '../checks.ts'

/** Rejects requests with a progress token that is neither a string nor an integer. */
export function strictProgress(choices: Choices): Checks | undefined {
  if (choices.progressErrors !== 'refused') return undefined
  return {
    middleware: {
      method: undefined,
      wrap({ params }, next) {
        const token = (params['_meta'] as JsonObject | undefined)?.[META.progressToken]
        if (token === undefined || typeof token === 'string' || Number.isInteger(token)) return next()
        throw mcpError(BAD_PROGRESS_TOKEN, {})
      },
    },
  }
}
