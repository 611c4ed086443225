import type { LoginEntry } from './login-entries.ts'
import { safeLine } from './safe-text.ts'
import { redactedUrl } from './target.ts'

/** A login for programs: nothing of it is a secret. */
export function shownEntry({ mark: _, server, ...entry }: LoginEntry): object {
  return { url: redactedUrl(server), ...entry }
}

/** A login for people, in a few lines. */
export function entryText(entry: LoginEntry): string {
  const { server, issuer, resource, scopes, isLoggedIn } = entry
  const head = safeLine(redactedUrl(server), 500)
  if (!isLoggedIn) return `${head}\n  not logged in; this program is known at ${safeLine(issuer, 500)}`
  return [
    head,
    `  issuer    ${safeLine(issuer, 500)}`,
    ...(resource === undefined || resource === server ? [] : [`  resource  ${safeLine(resource, 500)}`]),
    `  scopes    ${scopes === undefined ? 'unknown' : safeLine(scopes.join(' '), 500) || 'none'}`,
    `  expires   ${expiryText(entry)}`,
  ].join('\n')
}

function expiryText({ expiresAt, isRenewable }: LoginEntry): string {
  const renewal = isRenewable ? ', then it is renewed' : ''
  if (expiresAt === undefined) return `unknown${renewal}`
  const isOver = Date.parse(expiresAt) <= Date.now()
  if (isOver)
    return isRenewable ? `${expiresAt}; it is renewed at the next use` : `${expiresAt}; log in again`
  return `${expiresAt}${renewal}`
}
