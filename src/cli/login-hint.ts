import { McpError } from 'pierhead/client'
import { EXIT } from './exit.ts'
import { Failure } from './failure.ts'
import { redactedUrl } from './redaction.ts'
import type { ResolvedTarget } from './target.ts'

/** What a command throws, with the way to log in if the server asks for that. */
export function withLoginHint(thrown: unknown, target: ResolvedTarget | undefined): unknown {
  if (!(thrown instanceof McpError) || target === undefined || !('url' in target.target)) return thrown
  const { kind, data } = thrown
  const url = redactedUrl(String(target.target.url))
  const where = target.from === 'configuration' ? target.label : url
  if (kind === 'login_needed') {
    const { reason = '' } = (data ?? {}) as { readonly reason?: string }
    return new Failure(`${target.label} asks for a login${REASONS[reason] ?? ''}`, {
      exit: EXIT.auth,
      hint: `Log in on a terminal: pierhead auth login ${where}\nWithout a terminal, set PIERHEAD_TOKEN to a token.`,
      cause: thrown,
    })
  }
  if (kind === 'http_failed' && (data as { readonly status?: unknown } | undefined)?.status === 401)
    return new Failure(thrown.message, {
      exit: EXIT.auth,
      hint: `It rejected the token that was sent. Correct PIERHEAD_TOKEN or --header, or remove them and log in: pierhead auth login ${where}`,
      cause: thrown,
    })
  if (kind !== 'login_failed') return thrown
  return new Failure(thrown.message, {
    exit: EXIT.auth,
    hint: `pierhead doctor ${where} shows what the server says about logins. If you have a token or an API key, set PIERHEAD_TOKEN, or pass it with --header.`,
    cause: thrown,
  })
}

/** Why the stored login is not enough. */
const REASONS: Readonly<Record<string, string>> = {
  no_login: '',
  expired: ': the stored one has expired',
  revoked: ': the stored one was revoked',
  rejected: ': it rejected the stored one',
  missing_scopes: ' with more scopes than the stored one has',
}
