import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { authority, pair, post, server } from '../auth/secure.ts'

const run = promisify(execFile)
const TSX = pathToFileURL(resolve('node_modules/tsx/dist/loader.mjs')).href
const FLAGS = ['--import', TSX, '--conditions', 'pierhead-source']
const example = (name: string): string => resolve('examples/keys', name)

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-keys-guide-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('the guide to key pairs: a key is pinned, and its client uses the server', async () => {
  const cwd = newFolder()
  await run(process.execPath, [...FLAGS, example('pin.ts')], { cwd })
  const args = [...FLAGS, example('client.ts'), ...FLAGS, example('server.ts')]
  const { stdout } = await run(process.execPath, args, { cwd })
  expect(stdout).toBe('anna has 120 coins.\nanna has paid.\n')
})

test('the guide to certificates: the certificate is the caller, and is renewed on a signal', async () => {
  const cwd = newFolder()
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text)
  write('key.pem', server.key)
  write('cert.pem', server.cert)
  write('clients-ca.pem', authority.cert)
  const child = spawn(process.execPath, [...FLAGS, example('certificates.ts')], {
    cwd,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const url = /https:\S+/.exec(line.toString())?.[0] as string
  const ask = async (name: string): Promise<string> => {
    const own = { ca: authority.cert, agent: false, ...pair(authority.issue(name)) } as const
    return (await post(url, 'pay', own)).text
  }
  expect(await ask('anna')).toContain('CN=anna has paid.')
  expect(await ask('berta')).toContain('the caller lacks ledger:write')
  const renewed = authority.issue('renewed', ['127.0.0.1'])
  write('key.pem', renewed.key)
  write('cert.pem', renewed.cert)
  child.kill('SIGHUP')
  const options = { ca: authority.cert, agent: false, ...pair(authority.issue('anna')) } as const
  const certificates: string[] = []
  await expect
    .poll(async () => {
      await post(url, 'balance', {
        ...options,
        checkServerIdentity: (_, { fingerprint256 }) => void certificates.push(fingerprint256),
      })
      return certificates.at(-1)
    })
    .toBe(renewed.fingerprint)
})
