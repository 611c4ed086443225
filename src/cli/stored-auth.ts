import type { BrowserOptions, LoginMethod } from 'pierhead/auth/client'
import type { ClientAuth } from 'pierhead/client'
import type { Flags } from './command.ts'
import { environmentToken } from './environment-token.ts'
import type { Io } from './io.ts'
import { loginEntries, openLogins } from './login-entries.ts'
import type { Output } from './output.ts'
import type { ResolvedTarget } from './target.ts'

/**
 * How to authenticate to a URL: with a header that the user chose, with the token in PIERHEAD_TOKEN, or with the stored login, which is
 * renewed silently. If there is none and the server asks for one, a person at a terminal may log in; elsewhere the command fails.
 */
export async function authOf(
  resolved: ResolvedTarget,
  flags: Flags,
  io: Io,
  output: Output,
): Promise<ClientAuth | undefined> {
  const { target } = resolved
  if (!('url' in target) || !/^(?:http|ws)s?:/i.test(String(target.url))) return undefined
  if (sendsCredentials(flags.list('header'), target.headers)) return undefined
  const secret = environmentToken(resolved, io.env)
  if (secret !== undefined) {
    const { token } = await import('pierhead/auth/client')
    return token(() => secret)
  }
  const { method } = await storedMethod(
    String(target.url),
    flags.is('stored-auth-only') || !hasPerson(io),
    io,
    output,
  )
  return method
}

/** The method that uses the stored login of a URL, and whether there is one. */
export async function storedMethod(
  url: string,
  storedOnly: boolean,
  io: Io,
  output: Output,
): Promise<{ readonly method: LoginMethod; readonly isLoggedIn: boolean }> {
  const vault = await openLogins(io, output)
  const stored = (vault && (await loginEntries(vault, url))) ?? []
  output.hide(stored.map(({ mark }) => mark))
  const last = stored.findLast(({ isLoggedIn }) => isLoggedIn)
  // A login with a client id of the user belongs to that id.
  const method = await loginMethod(io, { vault, clientId: last?.clientId, storedOnly })
  return { method, isLoggedIn: last !== undefined }
}

/** The method that logs in with a browser, with what all commands have in common. */
export async function loginMethod(io: Io, options: BrowserOptions): Promise<LoginMethod> {
  const { browser } = await import('pierhead/auth/client')
  const given = Object.entries({ open: io.openPage, ...options }).filter(([, value]) => value !== undefined)
  return browser({ clientName: 'Pierhead command', ...Object.fromEntries(given) })
}

/** Whether a person can be asked to log in. */
export function hasPerson({ stdin, stderr }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true
}

/** Whether the headers that the user chose authenticate already. */
export function sendsCredentials(
  lines: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): boolean {
  const names = [...lines.map((line) => line.split(':')[0] ?? ''), ...Object.keys(headers)]
  return names.some((name) => name.trim().toLowerCase() === 'authorization')
}
