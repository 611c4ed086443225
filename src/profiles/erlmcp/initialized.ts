import type { MakeHabit } from '../habits.ts'

/** Says after the handshake that the server is ready too. */
export const initialized: MakeHabit = (choices) => {
  if (choices.initializedFrom !== 'both') return undefined
  return {
    answered(method, tell) {
      // The answer itself leaves before any timer runs.
      if (method === 'initialize') setTimeout(() => tell({ method: 'notifications/initialized', params: {} }))
    },
  }
}
