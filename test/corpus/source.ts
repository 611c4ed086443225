import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A folder of official schemas, or `none` for the schemas of the official SDKs and the recorded messages. */
export type Source = string

const BESIDE = fileURLToPath(new URL('../../../shared/spec', import.meta.url))

/** `PIERHEAD_SPEC` if it is set, which must exist then; else the folder beside the repository if there is one. */
export function findSource(
  asked: string | undefined = process.env['PIERHEAD_SPEC'],
  beside: string = BESIDE,
): Source {
  if (asked === undefined || asked === '') return existsSync(beside) ? beside : 'none'
  if (asked !== 'none' && !existsSync(asked))
    throw new Error(`PIERHEAD_SPEC names ${asked}, which does not exist`)
  return asked
}
