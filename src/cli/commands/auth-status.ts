import type { Command } from '../command.ts'
import { loginEntries, openLogins } from '../login-entries.ts'
import { entryText, shownEntry } from '../login-text.ts'
import { loginFile } from '../user-folders.ts'
import { loginTarget } from './auth-login.ts'

export const authStatus: Command = {
  name: 'auth status',
  group: 'Set up',
  summary: 'list the stored logins, without their secrets',
  arguments: [{ name: 'url', summary: 'the URL or name of a server; all by default', isOptional: true }],
  options: [{ flags: '--config <file>', summary: 'the mcp.json file that has the server' }],
  examples: [
    ['auth status', 'lists all logins'],
    ['auth status https://mcp.example/mcp', 'shows that of one server'],
  ],
  async run({ words, flags, io, output }) {
    const url = words.length === 0 ? undefined : loginTarget(words, flags, io).url
    const vault = await openLogins(io, output)
    const logins = vault === undefined ? [] : await loginEntries(vault, url)
    const hasToken = (io.env['PIERHEAD_TOKEN'] ?? '') !== ''
    const file = loginFile(io.env)
    await output.data({ file, hasToken, logins: logins.map(shownEntry) }, () =>
      [
        ...(hasToken
          ? [
              'PIERHEAD_TOKEN is set, so its token is used for every URL that you name, and for those of configurations at an origin in PIERHEAD_TOKEN_ORIGIN.',
              '',
            ]
          : []),
        logins.length === 0
          ? 'There are no stored logins. pierhead auth login <url> stores one.'
          : logins.map(entryText).join('\n\n'),
      ].join('\n'),
    )
  },
}
