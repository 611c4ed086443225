import type { CreateAdapter } from '../adapter.ts'

/** Makes the server send `initialized` after the handshake too. */
export const initialized: CreateAdapter = (choices) => {
  if (choices.initializedFrom !== 'both') return undefined
  return {
    afterAnswer(method, notify) {
      // The answer is sent before any timer fires.
      if (method === 'initialize')
        setTimeout(() => notify({ method: 'notifications/initialized', params: {} }))
    },
  }
}
