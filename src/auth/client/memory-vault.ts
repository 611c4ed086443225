import { OneAtATime } from './one-at-a-time.ts'
import type { StoredCredentials, Vault } from './vault.ts'

/**
 * Keeps credentials until the process ends: users log in again after a restart. All clients with the same vault share a login.
 *
 * @example
 * const vault = memoryVault()
 * await connect('https://mcp.example/mcp', { auth: browser({ vault }) })
 */
export function memoryVault(): Vault {
  // As JSON, so that nobody can change a stored object from outside.
  const entries = new Map<string, string>()
  const changes = new OneAtATime()
  return {
    name: 'memoryVault',
    read: async (key) => copyOf(entries.get(key)),
    keys: async () => [...entries.keys()],
    update: (key, change) =>
      changes.run(key, async () => {
        const next = await change(copyOf(entries.get(key)))
        if (next === undefined) entries.delete(key)
        else entries.set(key, JSON.stringify(next))
        return next
      }),
  }
}

function copyOf(text: string | undefined): StoredCredentials | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as StoredCredentials)
}
