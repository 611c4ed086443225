import { mcpError } from '../../errors/error.ts'
import { BAD_PARAMS } from '../../errors/wire.ts'
import type { Choices } from '../../protocol/choices.ts'
import type { Route } from '../routes.ts'

const METHOD = 'requests/cancel'

/** `requests/cancel`: cancels another request of the same client. Cancelling a finished request is not an error. */
export function requestsCancel(choices: Choices): readonly (readonly [string, Route])[] {
  if (choices.requestsCancel !== 'answered') return []
  return [
    [
      METHOD,
      (call) => {
        const { requestId } = call.params
        if (typeof requestId !== 'string' && typeof requestId !== 'number')
          throw mcpError(BAD_PARAMS, {
            method: METHOD,
            reason: 'requestId is neither a string nor a number',
          })
        call.channel.cancel?.(call.params)
        return {}
      },
    ],
  ]
}
