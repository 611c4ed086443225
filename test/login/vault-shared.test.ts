import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fileVault } from '../../src/auth/client/file-vault.ts'
import { put } from './vault-contract.ts'
import { folder, startProgram, type VaultProgram } from './vault-child.ts'

interface Rotations {
  readonly url: string
  /** How many tokens were issued. */
  count: number
  /** Tokens that came a second time. */
  readonly reused: string[]
}

/**
 * Issues rotating refresh tokens: each is good for one use. With `isForgiving`, the newest but one is good too until the newest is used, as
 * issuers allow for clients that were interrupted before they could store it.
 */
async function startRotations(isForgiving = false): Promise<Rotations> {
  const rotations = { url: '', count: 0, reused: [] as string[] }
  const server = createServer((request, response) => {
    let token = ''
    request.on('data', (bytes: Buffer) => (token += bytes.toString()))
    request.on('end', () => {
      if (isForgiving && rotations.count > 0 && token === `refresh-${rotations.count - 1}`) rotations.count--
      if (token !== `refresh-${rotations.count}`) {
        rotations.reused.push(token)
        response.writeHead(400).end(`invalid_grant: ${token}`)
      } else response.end(`refresh-${++rotations.count}`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  rotations.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return rotations
}

async function startVault(): Promise<string> {
  const path = join(mkdtempSync(join(folder, 'shared-')), 'credentials.json')
  const tokens = { accessToken: 'access', type: 'bearer', refreshToken: 'refresh-0' } as const
  await put(fileVault({ path }), 'a', { tokens })
  return path
}

async function linesOf(program: VaultProgram): Promise<readonly string[]> {
  const lines: string[] = []
  for (let line = await program.line(); line !== undefined; line = await program.line()) lines.push(line)
  return lines
}

test('two processes that share a file rotate a refresh token 1,000 times and lose none', async () => {
  const rotations = await startRotations()
  const path = await startVault()
  const programs = [1, 2].map(() => startProgram('rotate', path, 'a', rotations.url, '500'))
  const [one = [], other = []] = await Promise.all(programs.map(linesOf))
  expect(await Promise.all(programs.map((program) => program.end()))).toEqual([0, 0])
  expect([one.length, other.length]).toEqual([500, 500])
  // Each got tokens that the other did not get, and all of them were stored, one after the other.
  expect(new Set([...one, ...other]).size).toBe(1000)
  expect(rotations).toMatchObject({ count: 1000, reused: [] })
  // They took turns: many tokens that one used came from the other.
  const turns = one.filter((token) => other.includes(`refresh-${numberOf(token) - 1}`))
  expect(turns.length).toBeGreaterThan(10)
  expect((await fileVault({ path }).read('a'))?.tokens?.refreshToken).toBe('refresh-1000')
})

test('processes that change different entries of one file lose none', async () => {
  const path = await startVault()
  const keys = ['b', 'c', 'd']
  const issuers = await Promise.all(keys.map(() => startRotations()))
  for (const key of keys) {
    const tokens = { accessToken: 'access', type: 'bearer', refreshToken: 'refresh-0' } as const
    await put(fileVault({ path }), key, { tokens })
  }
  const programs = keys.map((key, index) => startProgram('rotate', path, key, issuers[index]!.url, '60'))
  await Promise.all(programs.map(linesOf))
  for (const key of keys)
    expect((await fileVault({ path }).read(key))?.tokens?.refreshToken).toBe('refresh-60')
  expect((await fileVault({ path }).read('a'))?.tokens?.refreshToken).toBe('refresh-0')
})

test('processes that are killed at any moment lose and damage nothing', async () => {
  const rotations = await startRotations(true)
  const path = await startVault()
  const warnings: string[] = []
  const vault = fileVault({ path, warn: (text) => warnings.push(text) })
  const survivor = startProgram('rotate', path, 'a', rotations.url, '100000')
  for (let round = 0; round < 25; round++) {
    const victim = startProgram('rotate', path, 'a', rotations.url, '100000')
    // A few of its tokens, then a moment that depends on nothing.
    let last = ''
    for (let count = 0; count <= round % 4; count++) last = (await victim.line()) ?? ''
    const spins = Math.floor(Math.random() * 40)
    for (let spin = 0; spin < spins; spin++) await new Promise(setImmediate)
    await victim.kill()
    const before = performance.now()
    const stored = numberOf((await vault.read('a'))?.tokens?.refreshToken)
    expect(stored).toBeGreaterThanOrEqual(numberOf(last))
    // Its lock does not block others.
    await vault.update('a', async (current) => current)
    expect(performance.now() - before).toBeLessThan(5000)
  }
  await survivor.kill()
  expect(rotations.reused).toEqual([])
  expect(warnings).toEqual([])
  await put(vault, 'b', {})
  expect(readdirSync(join(path, '..')).toSorted()).toEqual(['credentials.json', 'credentials.json.locks'])
})

function numberOf(token: string | undefined): number {
  return Number(/\d+$/.exec(token ?? '')?.[0])
}
