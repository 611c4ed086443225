import { readFile } from 'node:fs/promises'
import { workload, type ClientAuth } from 'pierhead/auth/client'

/** Presents the identity that the platform writes to a file, and renews there. */
export function identityIn(file: string, issuer: string): ClientAuth {
  return workload({ jwt: async () => (await readFile(file, 'utf8')).trim(), issuer })
}
