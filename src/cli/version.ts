import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The version of this package. */
export function ownVersion(): string {
  const file = createRequire(import.meta.url).resolve('pierhead/package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
