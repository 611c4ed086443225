import type { Client } from './redis-client.ts'

/** The settings of Redis that may lose accepted work: for each value that does, what happens. */
const RISKS: readonly (readonly [setting: string, isRisk: (value: string) => boolean, what: string])[] = [
  [
    'appendonly',
    (value) => value === 'no',
    'a restart loses tasks, sessions, events and messages; set appendonly yes',
  ],
  [
    'appendfsync',
    (value) => value !== 'always',
    'a crash of its machine may lose the last changes; set appendfsync always if that matters',
  ],
  [
    'maxmemory-policy',
    (value) => value !== 'noeviction',
    'it may evict tasks, sessions and events when its memory is full; set maxmemory-policy noeviction',
  ],
]

/** Warnings about settings of the server. There are none if it does not tell its settings. */
export async function durabilityWarnings(client: Client): Promise<readonly string[]> {
  const warnings = await Promise.all(
    RISKS.map(async ([setting, isRisk, what]) => {
      try {
        const reply = await client.call('CONFIG', 'GET', setting)
        const value = Array.isArray(reply) ? (reply as readonly unknown[])[1] : undefined
        return typeof value === 'string' && isRisk(value) ? [`${setting} is ${value}: ${what}`] : []
      } catch {
        // Many hosted servers do not allow it.
        return []
      }
    }),
  )
  const all = warnings.flat()
  // Without a file, it does not matter how often it is written.
  return all.some((text) => text.startsWith('appendonly'))
    ? all.filter((text) => !text.startsWith('appendfsync'))
    : all
}
