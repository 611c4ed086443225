import { existsSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { PinnedKey } from 'pierhead/auth'
import type { Command } from '../command.ts'
import { Failure, wrongUsage } from '../failure.ts'
import { readText } from '../read-text.ts'
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
    const text = textOf(file)
    // A pair does not begin like a list in JSON.
    if (!text.trimStart().startsWith('[')) {
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
    const keys = JSON.parse(text) as readonly PinnedKey[]
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

function textOf(file: string): string {
  try {
    return readText(file, MOST_BYTES) ?? ''
  } catch (error) {
    throw new Failure(`${file} holds no keys: ${(error as Error).message}`, {
      hint: 'Name the file of a pair or a list.',
      cause: error,
    })
  }
}
