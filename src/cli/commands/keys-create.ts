import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { Command } from '../command.ts'

export const keysCreate: Command = {
  name: 'keys create',
  group: 'Set up',
  summary: 'create a key pair for servers on stdio, and show its public key',
  details:
    'The file holds the private key, and only you can read it. The public key is not a secret: a server allows it with ' +
    '`pierhead keys allow`. A file that exists stays as it is.',
  arguments: [{ name: 'file', summary: 'the file of the pair, such as client-key.pem' }],
  examples: [['keys create client-key.pem', 'creates a pair, and prints the public key']],
  async run({ words: [word = ''], io, output }) {
    const file = resolve(io.cwd, word)
    const isNew = !existsSync(file)
    const { createKeys } = await import('pierhead/auth')
    const { publicKey, fingerprint } = createKeys(file)
    const shown = relative(io.cwd, file) || file
    await output.data({ file, isNew, publicKey, fingerprint }, () =>
      [
        isNew ? `Created ${shown}. Keep it out of version control.` : `${shown} has a pair already.`,
        `public key   ${publicKey}`,
        `fingerprint  ${fingerprint}`,
        '',
        'Allow it at the server:',
        `  ${output.colors.cyan(`pierhead keys allow allowed-keys.json ${publicKey} --sub NAME`)}`,
      ].join('\n'),
    )
  },
}
