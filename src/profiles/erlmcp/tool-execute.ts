import type { CreateAdapter } from '../adapter.ts'

/** Understands `tool/execute` as `tools/call`. */
export const toolExecute: CreateAdapter = (choices) => {
  if (choices.toolExecute !== 'alias') return undefined
  return {
    decodeRequest: ({ method, params }) => ({
      method: method === 'tool/execute' ? 'tools/call' : method,
      params,
    }),
  }
}
