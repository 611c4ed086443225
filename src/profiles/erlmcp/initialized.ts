import type { CreateAdapter } from '../adapter.ts'

/** Says after the handshake that the server is ready too. */
export const initialized: CreateAdapter = (choices) => {
  if (choices.initializedFrom !== 'both') return undefined
  return {
    afterAnswer(method, tell) {
      // The answer itself leaves before any timer runs.
      if (method === 'initialize') setTimeout(() => tell({ method: 'notifications/initialized', params: {} }))
    },
  }
}
