import type { TaskStore } from '../../src/tasks/store.ts'

/** A store that answers later, as one on a disk does; `before` and `after` run around each of its steps, and may wait or throw. */
export function hooked(
  store: TaskStore,
  hooks: { before?: (step: string, args: readonly unknown[]) => unknown; after?: (step: string) => unknown },
): TaskStore {
  return new Proxy(store, {
    get(target, name: string) {
      const member = Reflect.get(target, name) as unknown
      if (typeof member !== 'function') return member
      const act = member.bind(target) as (...args: readonly unknown[]) => unknown
      if (name === 'watch' || name === 'close') return act
      return async (...args: readonly unknown[]) => {
        await hooks.before?.(name, args)
        const answer = await act(...args)
        await hooks.after?.(name)
        return answer
      }
    },
  })
}
