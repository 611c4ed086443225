import type { LoggedOut } from 'pierhead/auth/client'
import type { Command, Invocation } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { fewAtOnce } from '../few-at-once.ts'
import { loginEntries, needLogins } from '../login-entries.ts'
import { safeLine } from '../safe-text.ts'
import { loginMethod } from '../stored-auth.ts'
import { redactedUrl } from '../redaction.ts'
import { loginTarget } from './auth-login.ts'

/** How many servers are logged out of at once: their logins are removed from the file together, and each asks an issuer. */
const AT_ONCE = 32

export const authLogout: Command = {
  name: 'auth logout',
  group: 'Set up',
  summary: 'remove a stored login, and ask its issuer to revoke it',
  arguments: [
    { name: 'url', summary: 'the URL of a server, or its name in an mcp.json file', isOptional: true },
  ],
  options: [
    { flags: '--all', summary: 'remove all stored logins' },
    { flags: '--config <file>', summary: 'the mcp.json file that has the server' },
    { flags: '-t, --timeout <time>', summary: 'how long to wait for the issuer (10s)' },
  ],
  examples: [
    ['auth logout https://mcp.example/mcp', 'logs out of one server'],
    ['auth logout --all', 'logs out of all servers'],
  ],
  async run(invocation) {
    const { io, output } = invocation
    const vault = await needLogins(io, output)
    const chosen = urlOf(invocation)
    const entries = await loginEntries(vault, chosen)
    const servers = new Map(entries.map((entry) => [`${entry.clientId ?? ''} ${entry.server}`, entry]))
    const timeout = invocation.flags.text('timeout') as `${number}s` | undefined
    const all = await fewAtOnce([...servers.values()], AT_ONCE, async ({ server, clientId }) => {
      output.status(`logging out of ${safeLine(redactedUrl(server))} …`)
      const auth = await loginMethod(io, { vault, clientId, storedOnly: true })
      const outcomes = await auth.logout(server, timeout === undefined ? {} : { timeout })
      return outcomes.map(({ revoked: isRevoked, ...one }) => ({
        url: redactedUrl(server),
        ...one,
        isRevoked,
      }))
    })
    const done: readonly LoggedOutOf[] = all.flat()
    output.status('')
    await output.data({ loggedOut: done }, () => {
      if (done.length === 0) return 'There is no login to remove.'
      return done.map(lineOf).join('\n')
    })
  },
}

/** The server to log out of; undefined for all. */
function urlOf({ words, flags, io }: Invocation): string | undefined {
  const isAll = flags.is('all')
  if (words.length === 0 && !isAll)
    throw wrongUsage('the url is missing', 'Name the server, or add --all. pierhead auth status lists them.')
  if (words.length > 0 && isAll) throw wrongUsage('there are a url and --all', 'Give only one of them.')
  return isAll ? undefined : loginTarget(words, flags, io).url
}

/** What became of a login, and the URL of its server. */
type LoggedOutOf = Omit<LoggedOut, 'revoked'> & { readonly url: string; readonly isRevoked: boolean }

function lineOf({ url, issuer, isRevoked, reason = '' }: LoggedOutOf): string {
  const where = `${safeLine(url, 500)}: removed here`
  return isRevoked
    ? `${where}, and revoked by ${safeLine(issuer, 500)}`
    : `${where}; not revoked by ${safeLine(issuer, 500)}: ${safeLine(reason, 500)}`
}
