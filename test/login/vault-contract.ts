import { expect, test } from 'vitest'
import type { StoredCredentials, Vault } from '../../src/auth/client/vault.ts'

/** Credentials with everything that can be stored. */
export function credentials(name: string): StoredCredentials {
  return {
    registration: {
      clientId: `client-${name}`,
      clientSecret: 'hush',
      authMethod: 'client_secret_basic',
      redirectUris: ['http://127.0.0.1/callback'],
      expiresAt: 4_102_444_800_000,
    },
    tokens: {
      accessToken: `access-${name}`,
      type: 'dpop',
      refreshToken: `refresh-${name}`,
      scopes: ['notes:read', 'notes:write'],
      expiresAt: 1_900_000_000_000,
    },
    dpopKey: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'secret' },
  }
}

/** Stores a value, whatever was there. */
export function put(vault: Vault, key: string, value: StoredCredentials | undefined): Promise<unknown> {
  return vault.update(key, () => Promise.resolve(value))
}

/** The promises of a vault, as tests. `create` makes an empty one; `reopen` another that has the same contents. */
export function vaultContract(
  name: string,
  create: () => Vault,
  reopen: (vault: Vault) => Vault = (vault) => vault,
): void {
  test(`${name} names the function that created it`, () => {
    expect(create().name).toBe(name)
  })

  test(`${name} is empty at first`, async () => {
    const vault = create()
    expect(await vault.read('a')).toBeUndefined()
    expect(await vault.keys()).toEqual([])
  })

  test(`${name} keeps entries apart and returns what was stored`, async () => {
    const vault = create()
    // Keys contain URLs from servers, which may be any text.
    const keys = ['https://mcp.example/mcp https://id.example', '__proto__', 'constructor', '../../x', 'ü\n"']
    for (const key of keys) {
      expect(await put(vault, key, credentials(key))).toEqual(credentials(key))
    }
    const again = reopen(vault)
    for (const key of keys) expect(await again.read(key)).toEqual(credentials(key))
    expect((await again.keys()).toSorted()).toEqual(keys.toSorted())
    expect(await again.read('toString')).toBeUndefined()
  })

  test(`${name} removes an entry when a change returns undefined`, async () => {
    const vault = create()
    await put(vault, 'a', credentials('a'))
    await put(vault, 'b', credentials('b'))
    expect(await put(vault, 'a', undefined)).toBeUndefined()
    expect(await reopen(vault).read('a')).toBeUndefined()
    expect(await reopen(vault).keys()).toEqual(['b'])
  })

  test(`${name} gives each change the result of the one before, one at a time`, async () => {
    const vault = create()
    const other = reopen(vault)
    let running = 0
    const add = async (one: Vault): Promise<unknown> =>
      one.update('a', async (current) => {
        expect(++running).toBe(1)
        await new Promise(setImmediate)
        running--
        const count = Number(current?.tokens?.accessToken ?? 0) + 1
        return { tokens: { accessToken: String(count), type: 'bearer' } }
      })
    await Promise.all(Array.from({ length: 40 }, (_, index) => add(index % 2 === 0 ? vault : other)))
    expect((await vault.read('a'))?.tokens?.accessToken).toBe('40')
  })

  test(`${name} changes an entry while a change of another takes long`, async () => {
    const vault = create()
    const other = reopen(vault)
    let finish: (value: StoredCredentials) => void = () => undefined
    const slow = new Promise<StoredCredentials>((resolve) => (finish = resolve))
    const first = vault.update('a', () => slow)
    await put(other, 'b', credentials('b'))
    expect(await vault.read('a')).toBeUndefined()
    finish(credentials('a'))
    expect(await first).toEqual(credentials('a'))
    expect(await other.read('a')).toEqual(credentials('a'))
    expect(await other.read('b')).toEqual(credentials('b'))
  })

  test(`${name} stores nothing when a change fails, and goes on`, async () => {
    const vault = create()
    await put(vault, 'a', credentials('a'))
    const failure = new Error('the issuer is down')
    await expect(vault.update('a', () => Promise.reject(failure))).rejects.toBe(failure)
    const thrown = (): never => {
      throw failure
    }
    await expect(vault.update('a', thrown)).rejects.toBe(failure)
    expect(await vault.read('a')).toEqual(credentials('a'))
    await put(vault, 'a', credentials('b'))
    expect(await vault.read('a')).toEqual(credentials('b'))
  })

  test(`${name} gives out copies`, async () => {
    const vault = create()
    const given = credentials('a')
    await put(vault, 'a', given)
    const read = (await vault.read('a')) as { tokens: { accessToken: string } }
    read.tokens.accessToken = 'changed'
    ;(given as { tokens: unknown }).tokens = undefined
    expect(await vault.read('a')).toEqual(credentials('a'))
  })
}
