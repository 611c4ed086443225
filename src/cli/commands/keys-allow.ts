import { existsSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { PinnedKey } from 'pierhead/auth'
import type { Command } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { safeLine } from '../safe-text.ts'

export const keysAllow: Command = {
  name: 'keys allow',
  group: 'Set up',
  summary: 'add the public key of a client to those that a server allows',
  details:
    'The server reads the file with `allowKeys(file)` when it starts. A key that is there already keeps its owner and its scopes, unless --sub or --scope gives others.',
  arguments: [
    { name: 'file', summary: 'the list of the server, such as allowed-keys.json' },
    { name: 'key', summary: 'the public key, such as ed25519:…' },
  ],
  options: [
    { flags: '--sub <name>', summary: "the owner's name, which becomes ctx.auth.sub (the fingerprint)" },
    { flags: '--scope <scope>', summary: 'a scope of the owner', isMany: true },
  ],
  examples: [
    ['keys allow allowed-keys.json ed25519:… --sub anna --scope ledger:write', 'allows a key with a scope'],
  ],
  async run({ words: [word = '', key = ''], flags, io, output }) {
    if (!key.startsWith('ed25519:'))
      throw wrongUsage(
        'the key is not a public key, which begins with ed25519:',
        'pierhead keys show client-key.pem prints it. Never pass a private key.',
      )
    const file = resolve(io.cwd, word)
    const { allowKeys, pinKey } = await import('pierhead/auth')
    // Rejects a file that others can change, and keys that are not valid.
    if (existsSync(file)) allowKeys(file)
    const before = existsSync(file) ? entryOf(file, key) : undefined
    const sub = flags.text('sub') ?? before?.sub
    const given = flags.list('scope')
    const scopes = given.length > 0 ? given : (before?.scopes ?? [])
    const pinned = { key, ...(sub !== undefined && { sub }), ...(scopes.length > 0 && { scopes }) }
    pinKey(file, pinned)
    await output.data({ file, ...pinned }, () => {
      const owner = sub === undefined ? key : safeLine(sub, 80)
      const rights = scopes.length === 0 ? 'without scopes' : `with ${safeLine(scopes.join(' '), 200)}`
      return `${relative(io.cwd, file) || file} now allows ${owner} ${rights}. Servers that run read it when they start again.`
    })
  },
}

/** What a valid list says of a key. */
function entryOf(file: string, key: string): PinnedKey | undefined {
  return (JSON.parse(readFileSync(file, 'utf8')) as readonly PinnedKey[]).find((one) => one.key === key)
}
