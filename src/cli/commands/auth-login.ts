import type { Command, Flags } from '../command.ts'
import { EXIT } from '../exit.ts'
import { Failure, wrongUsage } from '../failure.ts'
import type { Io } from '../io.ts'
import { loginEntries, needLogins } from '../login-entries.ts'
import { withLoginHint } from '../login-hint.ts'
import { entryText, shownEntry } from '../login-text.ts'
import { hasPerson, loginMethod } from '../stored-auth.ts'
import { redactedUrl } from '../redaction.ts'
import { safeLine } from '../safe-text.ts'
import { targetWord } from '../target-word.ts'
import { resolveTarget, type ResolvedTarget } from '../target.ts'

export const authLogin: Command = {
  name: 'auth login',
  group: 'Set up',
  summary: 'log in to a server with the browser, and store the login',
  details:
    'The login is kept in a file that only you can read, and renewed when it expires. All commands use it for the same URL. ' +
    'It needs a terminal; scripts set PIERHEAD_TOKEN instead, or use a login that was stored before.',
  arguments: [{ name: 'url', summary: 'the URL of a server, or its name in an mcp.json file' }],
  options: [
    {
      flags: '--scope <scope>',
      summary: 'a scope to ask for besides those that the server names',
      isMany: true,
    },
    { flags: '--client-id <id>', summary: 'the client id, for issuers that do not register programs' },
    { flags: '--issuer <url>', summary: 'the only issuer to accept' },
    { flags: '--config <file>', summary: 'the mcp.json file that has the server' },
    { flags: '-t, --timeout <time>', summary: 'how long you may take to log in (5m)' },
  ],
  examples: [
    ['auth login https://mcp.example/mcp', 'opens the login page of a server'],
    ['auth login https://mcp.example/mcp --scope notes:write', 'asks for a scope as well'],
  ],
  async run({ words, flags, io, output }) {
    const resolved = loginTarget(words, flags, io)
    const { url } = resolved
    if (!hasPerson(io))
      throw new Failure('a login needs a terminal, and this is not one', {
        exit: EXIT.auth,
        hint: `Run this on a terminal: pierhead auth login ${targetWord(resolved)}\nIn scripts, set PIERHEAD_TOKEN to a token.`,
      })
    const vault = await needLogins(io, output)
    const before = await loginEntries(vault, url)
    const scopes = flags.list('scope')
    const auth = await loginMethod(io, {
      vault,
      clientId: flags.text('client-id') ?? before.findLast(({ isLoggedIn }) => isLoggedIn)?.clientId,
      issuer: flags.text('issuer'),
      scopes: scopes.length > 0 ? scopes : undefined,
      timeout: flags.text('timeout') as `${number}s` | undefined,
    })
    const { createClient } = await import('pierhead/client')
    const client = createClient(resolved.target, { auth })
    const close = (): Promise<void> => client.close().catch(() => undefined)
    io.signal.addEventListener('abort', () => void close(), { once: true })
    try {
      await client.open()
    } catch (error) {
      throw withLoginHint(error, resolved, io.env)
    } finally {
      await close()
    }
    const logins = (await loginEntries(vault, url)).filter(({ isLoggedIn }) => isLoggedIn)
    const known = new Set(before.map(({ mark }) => mark))
    const isNew = logins.some(({ mark }) => !known.has(mark))
    await output.data({ target: redactedUrl(url), isNew, logins: logins.map(shownEntry) }, () => {
      if (logins.length === 0)
        return `${safeLine(resolved.label, 500)} does not ask for a login. If it does later, such as for some of its tools, the command asks you then.`
      const head = isNew ? 'Logged in.' : 'You were logged in already.'
      return [head, ...logins.map(entryText)].join('\n')
    })
  },
}

/** A target with a URL that can have a login. */
export function loginTarget(
  words: readonly string[],
  flags: Flags,
  io: Io,
): ResolvedTarget & { readonly url: string } {
  const ways = 'Name a URL, such as https://mcp.example/mcp, or a server of an mcp.json file that has one.'
  const resolved = resolveTarget(words[0] ?? '', flags, io, ways)
  const { target } = resolved
  if ('url' in target && /^(?:http|ws)s?:/i.test(String(target.url)))
    return { ...resolved, url: String(target.url) }
  throw wrongUsage(
    `only servers at http and ws URLs have logins, and ${resolved.label} is not one`,
    'Name a URL, such as https://mcp.example/mcp. Programs get their credentials from --env.',
  )
}
