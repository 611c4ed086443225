import { existsSync, readFileSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { PinnedKey } from 'pierhead/auth'
import type { Command } from '../command.ts'
import { Failure, wrongUsage } from '../failure.ts'
import { safeLine } from '../safe-text.ts'
import { shellWord } from '../shell-word.ts'
import { tableText } from '../table-text.ts'

const MOST_BYTES = 1_000_000

export const keysShow: Command = {
  name: 'keys show',
  group: 'Set up',
  summary: 'show the public key of a pair, or the keys that a server allows',
  arguments: [
    { name: 'file', summary: 'a key pair, such as client-key.pem, or a list, such as allowed-keys.json' },
  ],
  examples: [
    ['keys show client-key.pem', 'shows the public key of a pair'],
    ['keys show allowed-keys.json', 'lists the keys that a server allows'],
  ],
  async run({ words: [word = ''], io, output }) {
    const file = resolve(io.cwd, word)
    const shown = relative(io.cwd, file) || file
    // createKeys would create it.
    if (!existsSync(file) || !statSync(file).isFile())
      throw wrongUsage(
        `there is no file ${shown}`,
        shown.endsWith('.json')
          ? `A list begins with the first key: pierhead keys allow ${shellWord(shown)} KEY`
          : `Create a pair: pierhead keys create ${shellWord(shown)}`,
      )
    const { allowKeys, createKeys } = await import('pierhead/auth')
    if (!isList(file)) {
      const { publicKey, fingerprint } = createKeys(file)
      await output.data({ file, publicKey, fingerprint }, () =>
        tableText([
          ['public key', publicKey],
          ['fingerprint', fingerprint],
        ]),
      )
      return
    }
    // Rejects a file that others can change, and keys that are not valid.
    allowKeys(file)
    const keys = JSON.parse(readFileSync(file, 'utf8')) as readonly PinnedKey[]
    await output.data({ file, keys }, () =>
      keys.length === 0
        ? `${shown} allows no key.`
        : tableText([
            ['key', 'owner', 'scopes'],
            ...keys.map(({ key, sub = '-', scopes = [] }) => [
              key,
              safeLine(sub, 80),
              safeLine(scopes.join(' '), 200) || '-',
            ]),
          ]),
    )
  },
}

/** Whether a file is a list of keys rather than a pair. */
function isList(file: string): boolean {
  if (statSync(file).size > MOST_BYTES)
    throw new Failure(`${file} is too large to hold keys`, { hint: 'Name the file of a pair or a list.' })
  return readFileSync(file, 'utf8').trimStart().startsWith('[')
}
