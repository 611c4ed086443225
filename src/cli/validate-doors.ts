import type { Invocation } from './command.ts'
import { envOf } from './open.ts'
import { headersOf } from './option-values.ts'
import type { ResolvedTarget } from './target.ts'
import { parseUrl } from '../protocol/url.ts'
import { programDoor, urlDoor, type Door } from '../validate/door.ts'
import { Trace } from '../validate/trace.ts'

/** How long to look for the older transport. */
const LOOK_MS = 2_000

/** The ways to a target. A server over HTTP may also have the older HTTP+SSE, at the same path or at `/sse`. */
export async function doorsOf(
  { target }: ResolvedTarget,
  { flags, io }: Invocation,
): Promise<readonly Door[]> {
  if (!('url' in target)) {
    const { command, args, cwd, env } = target
    const inherit = flags.text('inherit') as 'none' | 'safe' | 'all' | undefined
    return [
      programDoor({ command, args, cwd, inherit, env: { ...env, ...envOf(flags.list('env'), io.env) } }),
    ]
  }
  const token = io.env['PIERHEAD_TOKEN'] ?? ''
  const headers = {
    ...(token !== '' && { authorization: `Bearer ${token}` }),
    ...target.headers,
    ...headersOf(flags.list('header')),
  }
  const url = parseUrl(target.url)
  const door = urlDoor(url, headers)
  if (door.transport !== 'http') return [door]
  const older = await olderDoor(url, headers)
  return older === undefined ? [door] : [door, older]
}

async function olderDoor(url: URL, headers: Readonly<Record<string, string>>): Promise<Door | undefined> {
  for (const path of new Set([url.pathname, url.pathname.replace(/[^/]*$/, 'sse')])) {
    const door = urlDoor(parseUrl(path + url.search, url), headers, true)
    try {
      await (await door.open(new Trace(), LOOK_MS)).close()
      return door
    } catch {
      // It is not there.
    }
  }
  return undefined
}
