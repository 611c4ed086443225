import type { MakeHabit } from '../habits.ts'

/** Understands `tool/execute` as `tools/call`. */
export const toolExecute: MakeHabit = (choices) => {
  if (choices.toolExecute !== 'alias') return undefined
  return {
    openRequest: ({ method, params }) => ({
      method: method === 'tool/execute' ? 'tools/call' : method,
      params,
    }),
  }
}
