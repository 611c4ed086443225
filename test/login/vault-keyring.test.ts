import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { fileVault } from '../../src/auth/client/file-vault.ts'
import { keyringVault } from '../../src/auth/client/keyring-vault.ts'
import { memoryVault } from '../../src/auth/client/memory-vault.ts'
import { openKeyringVault } from '../../src/auth/client/vault-keyring.ts'
import type { Vault } from '../../src/auth/client/vault.ts'
import { credentials, put, vaultContract } from './vault-contract.ts'
import { folder } from './vault-child.ts'

const newPath = (): string => join(mkdtempSync(join(folder, 'keyring-')), 'keyring.json')

// The lock of the account is in the usual folder.
beforeAll(() => void vi.stubEnv('XDG_CONFIG_HOME', mkdtempSync(join(folder, 'config-'))))
afterAll(() => void vi.unstubAllEnvs())

/** A keyring with the interface of `@napi-rs/keyring` 2. */
class Keyring {
  readonly stored = new Map<string, string>()
  readonly asked: unknown[] = []
  failure: Error | undefined
  reads = 0

  readonly load = async (): Promise<unknown> => {
    const { entryOf } = this
    return {
      AsyncEntry: function (service: string, account: string, options: unknown) {
        return entryOf(service, account, options)
      },
    }
  }

  readonly entryOf = (service: string, account: string, options: unknown): object => {
    this.asked.push(options)
    const name = `${service} ${account}`
    return {
      getPassword: async () => {
        this.reads++
        // As in a session without a keyring, where nothing is found but nothing can be stored either.
        const found = this.stored.get(name) ?? null
        await setTimeout(5)
        return found
      },
      setPassword: async (password: string) => {
        if (this.failure !== undefined) throw this.failure
        this.stored.set(name, password)
      },
    }
  }
}

const origins = new WeakMap<Vault, { readonly path: string; readonly keyring: Keyring }>()

function open(path = newPath(), keyring: Keyring = new Keyring()): Vault {
  const vault = openKeyringVault({ path }, keyring.load)
  origins.set(vault, { path, keyring })
  return vault
}

vaultContract(
  'keyringVault',
  () => open(),
  (vault) => {
    const { path, keyring } = origins.get(vault)!
    return open(path, keyring)
  },
)

test('two files that are used for the first time at once share the key of the account', async () => {
  const keyring = new Keyring()
  const paths = [newPath(), newPath()]
  const site = 'https://mcp.example'
  await Promise.all(paths.map((path) => put(open(path, keyring), site, credentials('a'))))
  for (const path of paths) expect(await open(path, keyring).read(site)).toEqual(credentials('a'))
})

test('the file is encrypted with a key that only the keyring has', async () => {
  const path = newPath()
  const keyring = new Keyring()
  const vault = open(path, keyring)
  await put(vault, 'https://mcp.example', credentials('a'))
  const text = readFileSync(path, 'utf8')
  expect(text).toMatch(/^[\w-]+$/)
  expect(Buffer.from(text, 'base64url').toString('latin1')).not.toMatch(/access-a|mcp\.example|version/)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect([...keyring.stored.keys()]).toEqual(['pierhead vault'])
  const [key] = [...keyring.stored.values()] as [string]
  expect(Buffer.from(key, 'base64url')).toHaveLength(32)
  const files = readdirSync(dirname(path), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  )
  expect(files.map(({ name }) => name)).toEqual(['keyring.json'])
  expect(text).not.toContain(key)
  expect(inspect(vault, { depth: 9, showHidden: true })).not.toContain(key)
})

test('two texts are never encrypted in the same way', async () => {
  const path = newPath()
  const vault = open(path)
  await put(vault, 'a', credentials('a'))
  const first = readFileSync(path, 'utf8')
  await put(vault, 'a', credentials('a'))
  expect(readFileSync(path, 'utf8').slice(0, 16)).not.toBe(first.slice(0, 16))
})

test('the keyring is asked once, and on Linux only for one that survives a restart', async () => {
  const keyring = new Keyring()
  const vault = open(newPath(), keyring)
  await Promise.all([vault.read('a'), put(vault, 'a', credentials('a')), vault.keys()])
  await vault.read('a')
  expect(keyring.reads).toBe(1)
  expect(keyring.asked).toEqual([{ linux: { store: 'secret-service' } }])
})

test('two vaults that find no key create one', async () => {
  const path = newPath()
  const keyring = new Keyring()
  const [one, other] = [open(path, keyring), open(path, keyring)]
  await Promise.all([put(one, 'a', credentials('a')), put(other, 'b', credentials('b'))])
  expect(await open(path, keyring).read('a')).toEqual(credentials('a'))
  expect(await open(path, keyring).read('b')).toEqual(credentials('b'))
})

test.each([
  ['of another key', (): string => 'x'.repeat(80)],
  ['that was changed', (text: string): string => `${text.slice(0, -4)}AAAA`],
  ['that was cut off', (text: string): string => text.slice(0, 20)],
])('a file %s is set aside with a warning', async (_, change) => {
  const path = newPath()
  const keyring = new Keyring()
  await put(open(path, keyring), 'a', credentials('a'))
  const text = change(readFileSync(path, 'utf8'))
  writeFileSync(path, text)
  const warnings: string[] = []
  const vault = openKeyringVault({ path, warn: (warning) => warnings.push(warning) }, keyring.load)
  expect(await vault.read('a')).toBeUndefined()
  expect(warnings).toHaveLength(1)
  const aside = readdirSync(dirname(path)).find((name) => name.includes('damaged')) as string
  expect(readFileSync(join(dirname(path), aside), 'utf8')).toBe(text)
})

test('without the package, the error names the command that installs it and the other vault', async () => {
  const load = (): Promise<never> => Promise.reject(new Error("Cannot find package '@napi-rs/keyring'"))
  const failure = await openKeyringVault({ path: newPath() }, load)
    .read('a')
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({
    kind: 'keyring_unavailable',
    message: expect.stringContaining('the package @napi-rs/keyring cannot be loaded') as unknown,
    hint: expect.stringMatching(/npm install @napi-rs\/keyring.*fileVault\(\)/) as unknown,
  })
})

test('a keyring that fails is an error, and is tried again', async () => {
  const keyring = new Keyring()
  keyring.failure = new Error(`Couldn't access platform storage: AccessDenied`)
  const vault = open(newPath(), keyring)
  const failure = { kind: 'keyring_unavailable', message: expect.stringContaining('AccessDenied') as unknown }
  await expect(vault.read('a')).rejects.toMatchObject(failure)
  await expect(put(vault, 'a', credentials('a'))).rejects.toMatchObject(failure)
  keyring.failure = undefined
  await put(vault, 'a', credentials('a'))
  expect(await vault.read('a')).toEqual(credentials('a'))
})

test('a package without the expected exports, and an entry that is not a key, are errors', async () => {
  const vaultOf = (found: unknown): Vault => openKeyringVault({ path: newPath() }, async () => found)
  for (const found of [{}, { default: {} }, { AsyncEntry: 7 }])
    await expect(vaultOf(found).read('a')).rejects.toThrow('use version 2')
  const keyring = new Keyring()
  expect(await vaultOf({ default: await keyring.load() }).read('a')).toBeUndefined()
  class Broken {
    constructor() {
      throw new Error('Platform failure: DBus error')
    }
  }
  await expect(vaultOf({ AsyncEntry: Broken }).read('a')).rejects.toThrow('Platform failure')
  keyring.stored.set('pierhead vault', 'short')
  await expect(open(newPath(), keyring).read('a')).rejects.toThrow('is not a key; remove it')
})

const ABSENT = [
  'Platform secure storage failure: no secret service provider or dbus session found',
  'Platform secure storage failure: DBus error: The name org.freedesktop.secrets was not provided by any .service files',
  'Platform secure storage failure: zbus error: I/O error: No such file or directory (os error 2)',
]

test.each([...ABSENT, undefined])(
  'without a keyring, the fallback is used, with a warning: %s',
  async (text) => {
    const keyring = new Keyring()
    keyring.failure = text === undefined ? undefined : new Error(text)
    const load =
      text === undefined ? (): Promise<never> => Promise.reject(new Error('not found')) : keyring.load
    const [fallback, warnings] = [memoryVault(), [] as string[]]
    const vault = openKeyringVault({ path: newPath(), fallback, warn: (said) => warnings.push(said) }, load)
    await put(vault, 'b', credentials('b'))
    expect(await fallback.keys()).toEqual(['b'])
    expect(await vault.read('b')).toEqual(credentials('b'))
    expect(vault.name).toBe('keyringVault')
    expect(warnings).toEqual([expect.stringContaining('so credentials are kept in memoryVault')])
  },
)

test.each([
  'locked',
  "Couldn't access platform secure storage: SS error: prompt dismissed",
  'Platform secure storage failure: zbus error: org.freedesktop.Secret.Error.IsLocked: the collection is locked',
  'Platform secure storage failure: DBus error: org.freedesktop.DBus.Error.AccessDenied',
  'Platform secure storage failure: User canceled the operation.',
])('a keyring that the user did not open is an error, and the fallback is not used: %s', async (text) => {
  const [keyring, fallback] = [new Keyring(), memoryVault()]
  const vault = openKeyringVault({ path: newPath(), fallback }, keyring.load)
  keyring.failure = new Error(text)
  await expect(put(vault, 'a', credentials('a'))).rejects.toMatchObject({ kind: 'keyring_unavailable' })
  keyring.failure = undefined
  await put(vault, 'a', credentials('a'))
  expect(await fallback.keys()).toEqual([])
})

test('a file that others can read is an error even with a fallback', async () => {
  const path = newPath()
  const keyring = new Keyring()
  writeFileSync(path, 'x', { mode: 0o644 })
  const vault = openKeyringVault({ path, fallback: fileVault({ path: newPath() }) }, keyring.load)
  await expect(vault.read('a')).rejects.toMatchObject({ kind: 'vault_unsafe' })
})

test('options are checked', () => {
  expect(() => keyringVault({ fallback: 'file' } as never)).toThrow('fallback must be a vault')
  expect(() => keyringVault({ fallback: { read: () => undefined } } as never)).toThrow(
    'fallback must be a vault',
  )
  expect(() => keyringVault({ service: 'x' } as never)).toThrow('there is no option "service"')
})

test('a folder that others can change is refused before anything in it is locked', async () => {
  const path = newPath()
  const victim = mkdtempSync(join(folder, 'victim-'))
  mkdirSync(join(victim, 'key'))
  writeFileSync(join(victim, 'key', 'thesis.txt'), '')
  symlinkSync(victim, `${path}.locks`)
  await expect(open(path).keys()).rejects.toMatchObject({ kind: 'vault_unsafe' })
  chmodSync(dirname(path), 0o777)
  const keyring = new Keyring()
  await expect(open(path, keyring).keys()).rejects.toMatchObject({
    kind: 'vault_unsafe',
    message: expect.stringContaining('other users can change the folder'),
  })
  expect(keyring.reads).toBe(0)
  expect(readdirSync(join(victim, 'key'))).toEqual(['thesis.txt'])
})
