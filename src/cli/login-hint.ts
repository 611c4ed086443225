import { McpError } from 'pierhead/client'
import { withAddressHint } from './address-hint.ts'
import { EXIT } from './exit.ts'
import { heldToken } from './environment-token.ts'
import { Failure } from './failure.ts'
import type { Io } from './io.ts'
import { withVariableHint } from './missing-variable.ts'
import { safeLine } from './safe-text.ts'
import { shellWord } from './shell-word.ts'
import type { ResolvedTarget } from './target.ts'
import { targetWord } from './target-word.ts'

/** Adds to an error how to log in, or how to give a program a variable, if the server asks for that. */
export function withLoginHint(thrown: unknown, target: ResolvedTarget | undefined, env: Io['env']): unknown {
  if (target !== undefined && 'command' in target.target) return withVariableHint(thrown, env)
  if (!(thrown instanceof McpError) || target === undefined || !('url' in target.target)) return thrown
  const { kind, data } = thrown
  const where = targetWord(target)
  const token = heldToken(target, env)
  const held = token && `${token.text}. ${token.fix}`
  if (kind === 'login_needed') {
    const { reason = '' } = (data ?? {}) as { readonly reason?: string }
    const login = `pierhead auth login ${where}${scopeOptions(data)}`
    return new Failure(`${target.label} asks for a login${REASONS[reason] ?? ''}`, {
      exit: EXIT.auth,
      hint: `Log in on a terminal: ${login}\n${held ?? 'Without a terminal, set PIERHEAD_TOKEN to a token.'}`,
      cause: thrown,
    })
  }
  if (kind === 'insufficient_scope')
    return new Failure(thrown.message, {
      exit: EXIT.auth,
      hint: `Log in with more scopes: pierhead auth login ${where}${scopeOptions(data)}\nIf PIERHEAD_TOKEN or --header has the token, it must be one with these scopes.`,
      cause: thrown,
    })
  if (kind === 'http_failed' && (data as { readonly status?: unknown } | undefined)?.status === 401)
    return new Failure(thrown.message, {
      exit: EXIT.auth,
      hint:
        held ??
        `It rejected the token that was sent. Correct PIERHEAD_TOKEN or --header, or remove them and log in: pierhead auth login ${where}`,
      cause: thrown,
    })
  if (kind !== 'login_failed') return withAddressHint(thrown, target)
  return new Failure(thrown.message, {
    exit: EXIT.auth,
    hint: `pierhead doctor ${where} shows what the server says about logins. If you have a token or an API key, set PIERHEAD_TOKEN, or pass it with --header.`,
    cause: thrown,
  })
}

/** The options that ask for the scopes that a server names. */
function scopeOptions(data: unknown): string {
  const { scopes } = (data ?? {}) as { readonly scopes?: unknown }
  const names = Array.isArray(scopes) ? scopes.filter((one): one is string => typeof one === 'string') : []
  return names
    .slice(0, MOST_SCOPES)
    .map((name) => ` --scope ${shellWord(safeLine(name))}`)
    .join('')
}

const MOST_SCOPES = 20

/** Why the stored login is not enough. */
const REASONS: Readonly<Record<string, string>> = {
  no_login: '',
  expired: ': the stored one has expired',
  revoked: ': the stored one was revoked',
  rejected: ': it rejected the stored one',
  missing_scopes: ' with more scopes than the stored one has',
}
