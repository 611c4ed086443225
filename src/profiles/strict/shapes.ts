import { mcpError } from '../../errors/error.ts'
import { BAD_DEFINITION } from '../../errors/server.ts'
import { BAD_PARAMS } from '../../errors/wire.ts'
import type { Choices } from '../../protocol/choices.ts'
import type { Checks } from '../checks.ts'

/** Rejects tools without a description and calls without arguments. */
export function strictShapes(choices: Choices): Checks | undefined {
  if (!choices.strictShapes) return undefined
  return {
    checkTool(name, { description }) {
      const reason = 'it needs a description, since strictShapes is on'
      if (description === undefined || description === '')
        throw mcpError(BAD_DEFINITION, { item: `tool "${name}"`, reason })
    },
    middleware: {
      method: 'tools/call',
      wrap({ method, params }, next) {
        if (params['arguments'] !== undefined) return next()
        throw mcpError(BAD_PARAMS, { method, reason: 'arguments are missing; send {} for none' })
      },
    },
  }
}
