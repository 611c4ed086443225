/* A process that uses a vault: what it does is in its arguments. */
import { request } from 'node:http'
import process from 'node:process'
import { fileVault } from '../../src/auth/client/file-vault.ts'
import type { StoredCredentials } from '../../src/auth/client/vault.ts'
import { withLock } from '../../src/auth/client/vault-lock.ts'

const [action, path = '', ...rest] = process.argv.slice(2)

const ACTIONS: Readonly<Record<string, () => Promise<void>>> = {
  /** Holds a lock until it reads a line. */
  hold: () =>
    withLock(path, rest[0] ?? 'a', async () => {
      say('held')
      await new Promise((resolve) => process.stdin.once('data', resolve))
    }),
  /** Rotates a refresh token so many times. */
  rotate: async () => {
    const [key = '', issuer = '', times = ''] = rest
    const vault = fileVault({ path })
    for (let count = 0; count < Number(times); count++) {
      const stored = await vault.update(key, async (current) => rotated(issuer, current))
      say(String(stored?.tokens?.refreshToken))
    }
  },
}

async function rotated(issuer: string, current: StoredCredentials | undefined): Promise<StoredCredentials> {
  const refreshToken = await post(issuer, current?.tokens?.refreshToken ?? '')
  return { ...current, tokens: { accessToken: 'access', type: 'bearer', refreshToken } }
}

/** Exchanges a refresh token for the next one. */
function post(url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST' }, (response) => {
      let text = ''
      response.on('data', (bytes: Buffer) => (text += bytes.toString()))
      response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

await ACTIONS[action ?? '']?.()
process.stdin.destroy()
