import type { Dialect } from '../protocol/switches.ts'

/** Whether a dialect allows a role. */
export function isRole(role: unknown, dialect: Dialect): boolean {
  return role === 'user' || role === 'assistant' || (role === 'system' && dialect.systemRole === 'passed')
}
