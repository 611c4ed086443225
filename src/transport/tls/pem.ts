import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import type { Pem } from './options.ts'

/** Rejects values that are not PEM, which are usually paths. */
export function checkPem(where: string, ...given: readonly (Pem | readonly Pem[] | undefined)[]): void {
  const wrong = given.flat().find((pem) => pem !== undefined && !toText(pem).includes('-----BEGIN'))
  if (wrong === undefined) return
  const reason = 'give the PEM text itself, not its path: readFileSync("cert.pem")'
  throw mcpError(BAD_OPTION, { where, reason })
}

function toText(pem: Pem): string {
  return typeof pem === 'string' ? pem : new TextDecoder().decode(pem)
}
