import { isUrl, parseUrl } from '../protocol/url.ts'
import type { Io } from './io.ts'
import { shellWord } from './shell-word.ts'
import type { ResolvedTarget } from './target.ts'

/**
 * The token in PIERHEAD_TOKEN, for URLs that the user typed and for the origins in PIERHEAD_TOKEN_ORIGIN. The author of a configuration
 * could otherwise have it sent anywhere.
 */
export function environmentToken(resolved: ResolvedTarget, env: Io['env']): string | undefined {
  const token = env['PIERHEAD_TOKEN'] ?? ''
  return token === '' || !mayHaveToken(resolved, env) ? undefined : token
}

/** Why the token in PIERHEAD_TOKEN is not sent to a target, and what to do; undefined if it is, or if there is none. */
export function heldToken(
  resolved: ResolvedTarget,
  env: Io['env'],
): { readonly text: string; readonly fix: string } | undefined {
  const { target, file } = resolved
  if (!('url' in target) || (env['PIERHEAD_TOKEN'] ?? '') === '' || mayHaveToken(resolved, env))
    return undefined
  const origin = originOf(String(target.url)) ?? ''
  return {
    text: `PIERHEAD_TOKEN was not sent, because the URL comes from ${file ?? 'a configuration'}`,
    fix: `If the token is for this server, set PIERHEAD_TOKEN_ORIGIN=${shellWord(origin)}, or name the URL instead.`,
  }
}

function mayHaveToken({ from, target }: ResolvedTarget, env: Io['env']): boolean {
  if (from === 'url') return true
  const origin = 'url' in target ? originOf(String(target.url)) : undefined
  const named = (env['PIERHEAD_TOKEN_ORIGIN'] ?? '').split(/[\s,]+/)
  return origin !== undefined && named.some((one) => originOf(one) === origin)
}

/** The origin of a URL, as http or https also for a WebSocket. */
function originOf(text: string): string | undefined {
  const address = text.replace(/^ws(?=s?:)/i, 'http')
  return /^https?:/i.test(address) && isUrl(address) ? parseUrl(address).origin : undefined
}
