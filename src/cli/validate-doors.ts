import type { Invocation } from './command.ts'
import { wrongUsage, type Failure } from './failure.ts'
import { environmentToken, heldToken } from './environment-token.ts'
import { configuredSecrets, envOf, trustOf } from './open.ts'
import { headersOf } from './option-values.ts'
import { safe } from './safe-text.ts'
import { sendsCredentials } from './stored-auth.ts'
import type { ResolvedTarget } from './target.ts'
import type { RunProgress } from './validate-text.ts'
import type { Revision } from '../protocol/revisions.ts'
import { parseUrl } from '../protocol/url.ts'
import type { Framing } from '../validate/framing.ts'
import { programDoor, splitUrl, urlDoor, type Door } from '../validate/door.ts'
import type { ServerRun } from '../validate/server-run.ts'
import { Trace } from '../validate/trace.ts'
import { NoEndpointError } from '../validate/wire-sse.ts'
import { revisionsOf } from './validate-options.ts'

/** The options of a validation. */
export interface Asked {
  readonly revisions: readonly Revision[] | undefined
  readonly only: readonly string[] | undefined
  readonly until: number
  readonly progress: Pick<RunProgress, 'at'>
}

/** The result of a validation. */
export interface Checked extends ServerRun {
  readonly label: string
  /** Where it is, if it has a URL. */
  readonly address?: string | undefined
  /** The names of the headers that the caller gave. */
  readonly headers?: readonly string[] | undefined
  /** Why a part of what was asked for could not be done. */
  readonly failure?: Failure | undefined
}

/** How long to look for the older transport. */
const LOOK_MS = 2_000

/** The ways to a target. A server over HTTP may also have the older HTTP+SSE, at the same path or at `/sse`. */
export async function doorsOf(resolved: ResolvedTarget, invocation: Invocation): Promise<readonly Door[]> {
  const { target } = resolved
  const { flags, io, output } = invocation
  output.hide(configuredSecrets(target))
  if (!('url' in target)) {
    const { command, args, cwd, env } = target
    const inherit = flags.text('inherit') as 'none' | 'safe' | 'all' | undefined
    return [
      programDoor({
        command,
        args,
        cwd,
        inherit,
        env: { ...trustOf(resolved, io), ...env, ...envOf(flags.list('env'), io.env) },
      }),
    ]
  }
  const token = environmentToken(resolved, io.env)
  const headersBeside = headersOf(flags.list('header'))
  const { url, authorization } = withoutUser(parseUrl(target.url), output)
  const given: Readonly<Record<string, string>> = {
    ...(authorization !== undefined && { authorization }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...target.headers,
    ...headersBeside,
  }
  output.hide(url.searchParams.values())
  const stored = await storedFor(url, given, invocation)
  const headers = { ...(stored !== undefined && { authorization: stored }), ...given }
  const held = heldToken(resolved, io.env)
  if (held !== undefined && !sendsCredentials([], headers)) output.warn(safe(`${held.text}. ${held.fix}`))
  const framing = flags.text('framing') as Framing | undefined
  const door: Door = { ...urlDoor(url, headers, { framing }), headersBeside }
  if (door.transport !== 'http') return [door]
  const older =
    (await olderDoor(url, headers, headersBeside)) ??
    (revisionsOf(flags.text('target'))?.[0] === '2024-11-05' ? await brokenDoor(url, headers) : undefined)
  return older === undefined ? [door] : [door, older]
}

/** Takes the user and password out of a URL: they are for the address only, as a header is. */
function withoutUser(url: URL, output: Invocation['output']): ReturnType<typeof splitUrl> {
  try {
    const split = splitUrl(url)
    output.hide([url.password, decodeURIComponent(url.password), split.authorization])
    return split
  } catch {
    throw wrongUsage(
      'the user or the password in the URL is not encoded properly',
      'Write %25 for a percent sign, or pass the credentials with --header.',
    )
  }
}

/** The token of the stored login, unless the user chose how to authenticate. */
async function storedFor(
  url: URL,
  given: Readonly<Record<string, string>>,
  invocation: Invocation,
): Promise<string | undefined> {
  const isChosen = Object.keys(given).some((name) => name.toLowerCase() === 'authorization')
  if (isChosen || !/^(?:http|ws)s?:$/.test(url.protocol)) return undefined
  const { storedHeader } = await import('./validate-login.ts')
  return storedHeader(url.href, invocation)
}

/** On a host of many, `/sse` may belong to somebody else, so logins, tokens and the query are for the address itself. */
async function olderDoor(
  url: URL,
  headers: Readonly<Record<string, string>>,
  headersBeside: Readonly<Record<string, string>>,
): Promise<Door | undefined> {
  for (const path of new Set([url.pathname, url.pathname.replace(/[^/]*$/, 'sse')])) {
    const isSame = path === url.pathname
    const address = parseUrl(isSame ? path + url.search : path, url)
    const door = urlDoor(address, isSame ? headers : headersBeside, { isOlder: true })
    try {
      await (await door.open(new Trace(), LOOK_MS)).close()
      return door
    } catch {
      // It is not there.
    }
  }
  return undefined
}

/** A stream at the address itself that names no place for messages, unless it belongs to Streamable HTTP. */
async function brokenDoor(url: URL, headers: Readonly<Record<string, string>>): Promise<Door | undefined> {
  const door = urlDoor(url, headers, { isOlder: true })
  try {
    await (await door.open(new Trace(), LOOK_MS)).close()
  } catch (error) {
    if (!(error instanceof NoEndpointError)) return undefined
    const { greetAt } = await import('../validate/greetings.ts')
    const { is } = await greetAt(urlDoor(url, headers), '2025-03-26', LOOK_MS)
    return is === 'silent' || is === 'failed' ? door : undefined
  }
  return undefined
}
