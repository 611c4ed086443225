import type { Choices } from '../../protocol/choices.ts'
import { REFUSALS, type SentRefusalName } from '../../protocol/refusals.ts'
import type { CreateAdapter } from '../adapter.ts'
import { toOrdinaryReply, type Fetch } from '../error-reply.ts'

/** Statuses that mean that the client must authenticate, or that its session has ended. */
const TAKEN: ReadonlySet<number> = new Set([401, 404])

/** Sends errors that officially have status 200 with the status of their refusal. */
export const httpStatus: CreateAdapter = (choices) => {
  const { httpStatusFromRefusal } = choices
  if (httpStatusFromRefusal === false) return undefined
  return {
    statusOf(error, status) {
      const own = REFUSALS[error.refusal as SentRefusalName]?.http as number | undefined
      if (status !== 200 || own === undefined) return status
      return httpStatusFromRefusal === true && TAKEN.has(own) ? status : own
    },
  }
}

/** A `fetch` for clients that turns errors with such a status into ordinary answers. */
export function fetchOf(choices: Choices): ((fetch: Fetch) => Fetch) | undefined {
  if (choices.httpStatusFromRefusal === false) return undefined
  return (fetch) => async (input, init) => {
    const response = await fetch(input, init)
    return response.ok ? response : toOrdinaryReply(response)
  }
}
