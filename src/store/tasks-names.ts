import type { TaskHead } from '../tasks/record.ts'

/** The name under which all tasks are counted. */
export const ALL = ''

/** The name under which the tasks of a scope are counted. */
export function scopeName(scope: string): string {
  return `scope ${scope}`
}

/** The name under which the tasks of a network are counted. */
export function networkName(network: string): string {
  return `network ${network}`
}

/** The names under which a task is counted. */
export function namesOf({ scope, network }: Pick<TaskHead, 'scope' | 'network'>): readonly string[] {
  const names = [ALL]
  if (scope !== '') names.push(scopeName(scope))
  if (network !== '') names.push(networkName(network))
  return names
}
