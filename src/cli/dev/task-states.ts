import type { Middleware, RequestEnd } from 'pierhead'

/** The method with which clients poll tasks. */
const POLL = 'tasks/get'
const MOST = 10_000

/** The states of tasks as clients hear them, so that polls which bring nothing new are not shown. */
export class TaskStates {
  readonly #told = new Map<string, string>()
  readonly #shown = new Map<string, string>()

  /** Reads the answers to polls. */
  readonly middleware: Middleware = async ({ method }, next) => {
    const result = await next()
    const { taskId, status } = result
    if (method === POLL && typeof taskId === 'string' && typeof status === 'string')
      keep(this.#told, taskId, status)
    return result
  }

  /** The new state of a task for a poll that was answered, undefined for another request, and `false` for a poll that brought nothing new. */
  change(
    method: string | undefined,
    id: string | undefined,
    outcome: RequestEnd['outcome'],
  ): string | undefined | false {
    if (method !== POLL || id === undefined || outcome !== 'result') return undefined
    const state = this.#told.get(id)
    if (state === undefined) return undefined
    if (this.#shown.get(id) === state) return false
    keep(this.#shown, id, state)
    return state
  }
}

/** Keeps the newest entries. */
function keep(states: Map<string, string>, id: string, state: string): void {
  states.delete(id)
  states.set(id, state)
  const [oldest] = states.keys()
  if (states.size > MOST && oldest !== undefined) states.delete(oldest)
}
