import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fileVault } from '../../src/auth/client/file-vault.ts'
import type { Vault } from '../../src/auth/client/vault.ts'
import { loginEntries } from '../../src/cli/login-entries.ts'
import * as absent from '../../src/auth/client/vaults-absent.ts'
import { credentials, put, vaultContract } from './vault-contract.ts'
import { folder } from './vault-child.ts'

const newPath = (): string => join(mkdtempSync(join(folder, 'file-')), 'credentials.json')

const paths = new WeakMap<Vault, string>()

function open(path: string): Vault {
  const vault = fileVault({ path })
  paths.set(vault, path)
  return vault
}

vaultContract(
  'fileVault',
  () => open(newPath()),
  (vault) => open(paths.get(vault) as string),
)

/** A vault that notes its warnings, and has one entry. */
async function filled(path: string): Promise<{ vault: Vault; warnings: string[] }> {
  const warnings: string[] = []
  const vault = fileVault({ path, warn: (text) => warnings.push(text) })
  await put(vault, 'a', credentials('a'))
  return { vault, warnings }
}

test('only the owner can read the file and its folder, and nothing else stays', async () => {
  const path = join(dirname(newPath()), 'new', 'folder', 'logins.json')
  const before = process.umask(0)
  onTestFinished(() => void process.umask(before))
  await filled(path)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  for (const parent of [dirname(path), dirname(dirname(path))])
    expect(statSync(parent).mode & 0o777).toBe(0o700)
  expect(readdirSync(dirname(path)).toSorted()).toEqual(['logins.json', 'logins.json.locks'])
  expect(statSync(`${path}.locks`).mode & 0o777).toBe(0o700)
  expect(readdirSync(`${path}.locks`)).toEqual([])
})

test('reading and listing create nothing', async () => {
  const path = join(dirname(newPath()), 'nowhere', 'logins.json')
  expect(await fileVault({ path }).read('a')).toBeUndefined()
  expect(await fileVault({ path }).keys()).toEqual([])
  expect(readdirSync(dirname(dirname(path)))).toEqual([])
})

test('a change that returns what it got writes nothing', async () => {
  const path = newPath()
  const { vault } = await filled(path)
  const { ino } = statSync(path)
  await vault.update('a', async (current) => current)
  await vault.update('b', async () => undefined)
  expect(statSync(path).ino).toBe(ino)
})

test('listing the logins of a file reads it as often with many entries as with few', async () => {
  const parsed: number[] = []
  for (const count of [3, 300]) {
    const path = newPath()
    mkdirSync(dirname(path), { mode: 0o700, recursive: true })
    const entries = Array.from({ length: count }, (_, at) => ({
      key: `browser https://issuer.example/ - https://${at}.example/mcp`,
      credentials: credentials(`token-${at}`),
    }))
    writeFileSync(path, JSON.stringify({ version: 1, entries }), { mode: 0o600 })
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    const found = await loginEntries(open(path))
    expect(found.map(({ mark }) => mark)).toEqual(entries.map((_, at) => `access-token-${at}`))
    parsed.push(parse.mock.calls.length)
    parse.mockRestore()
  }
  expect(parsed[1]).toBe(parsed[0])
})

test('an entry that is read while others are being read is as it is then', async () => {
  const path = newPath()
  const vault = open(path)
  for (let turn = 0; turn < 20; turn++) {
    const earlier = vault.read('a')
    await put(open(path), 'a', credentials(`token-${turn}`))
    expect(await vault.read('a')).toEqual(credentials(`token-${turn}`))
    await earlier
  }
})

test('a change replaces the file as a whole', async () => {
  const path = newPath()
  const { vault } = await filled(path)
  const { ino } = statSync(path)
  await put(vault, 'a', credentials('b'))
  expect(statSync(path).ino).not.toBe(ino)
})

test('files that a killed process left while it wrote are removed', async () => {
  const path = newPath()
  const { vault } = await filled(path)
  const left = `${path}.${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}.new`
  writeFileSync(left, '{"version"')
  writeFileSync(`${path}.mine`, 'mine')
  await put(vault, 'b', credentials('b'))
  expect(readdirSync(dirname(path)).toSorted()).toEqual([
    'credentials.json',
    'credentials.json.locks',
    'credentials.json.mine',
  ])
})

test.each([
  ['not JSON', '{"version":1,"entries":['],
  ['a list', '[]'],
  ['no entries', '{"version":1}'],
])('a damaged file (%s) is set aside with a warning', async (_, text) => {
  const path = newPath()
  const { vault, warnings } = await filled(path)
  writeFileSync(path, text)
  expect(await Promise.all([vault.read('a'), vault.read('a'), vault.keys()])).toEqual([
    undefined,
    undefined,
    [],
  ])
  const [aside, ...others] = readdirSync(dirname(path)).filter((name) => name.includes('damaged'))
  expect(others).toEqual([])
  expect(readFileSync(join(dirname(path), aside as string), 'utf8')).toBe(text)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain(`${path} is damaged`)
  expect(warnings[0]).toContain(aside)
  await put(vault, 'b', credentials('b'))
  expect(await vault.keys()).toEqual(['b'])
})

test.each([
  ['of another form', '{"key":"b","credentials":{"tokens":{"accessToken":7}}}'],
  [
    'whose time of expiry is null',
    '{"key":"b","credentials":{"registration":{"clientId":"b","expiresAt":null}}}',
  ],
  ['without a key', '{"credentials":{}}'],
  ['that is not an object', '7'],
])('an entry %s does not cost the others: it is left out with a warning', async (_, entry) => {
  const path = newPath()
  const { vault, warnings } = await filled(path)
  const before = await vault.read('a')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"entries": [', `"entries": [${entry},`))
  expect([await vault.keys(), await vault.read('a')]).toEqual([['a'], before])
  expect(warnings).toEqual([expect.stringContaining(`${path} has 1 damaged entry`)])
  expect(readdirSync(dirname(path)).filter((name) => name.includes('damaged'))).toEqual([])
})

test('a file that is damaged during a change is set aside too', async () => {
  const path = newPath()
  const { vault, warnings } = await filled(path)
  await vault.update('a', async () => {
    writeFileSync(path, 'oops')
    return credentials('b')
  })
  expect(warnings).toHaveLength(1)
  expect(await vault.read('a')).toEqual(credentials('b'))
})

test('the warning is one of the process unless the option warn takes it', async () => {
  const path = newPath()
  writeFileSync(path, 'oops', { mode: 0o600 })
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
  expect(await fileVault({ path }).read('a')).toBeUndefined()
  expect((await warned).message).toContain('is damaged')
})

test('an empty file is an empty vault', async () => {
  const path = newPath()
  writeFileSync(path, '', { mode: 0o600 })
  const vault = fileVault({ path, warn: (text) => expect.fail(text) })
  expect(await vault.keys()).toEqual([])
})

test('a file of a later version is neither read nor changed', async () => {
  const path = newPath()
  const text = '{"version":2,"entries":[]}'
  writeFileSync(path, text, { mode: 0o600 })
  const vault = fileVault({ path })
  await expect(vault.read('a')).rejects.toMatchObject({ kind: 'vault_failed' })
  await expect(put(vault, 'a', credentials('a'))).rejects.toThrow('a later version of pierhead')
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test.each([0o640, 0o604, 0o660, 0o602])('a file with mode %o is refused', async (mode) => {
  const path = newPath()
  const { vault } = await filled(path)
  const text = readFileSync(path, 'utf8')
  chmodSync(path, mode)
  const failure = { kind: 'vault_unsafe', message: expect.stringContaining(`chmod 600 ${path}`) as unknown }
  await expect(vault.read('a')).rejects.toMatchObject(failure)
  await expect(vault.keys()).rejects.toMatchObject(failure)
  await expect(put(vault, 'a', credentials('b'))).rejects.toMatchObject(failure)
  expect(readFileSync(path, 'utf8')).toBe(text)
  chmodSync(path, 0o600)
  expect(await vault.read('a')).toEqual(credentials('a'))
})

test.each([
  [0o777, 'chmod go-w'],
  [0o1777, 'use a folder of your own'],
  [0o770, 'chmod go-w'],
  [0o707, 'chmod go-w'],
])('a folder with mode %o is refused, with the advice to %s', async (mode, advice) => {
  const path = newPath()
  const { vault } = await filled(path)
  chmodSync(dirname(path), mode)
  const failure = { kind: 'vault_unsafe', message: expect.stringContaining(advice) as unknown }
  await expect(vault.read('a')).rejects.toMatchObject(failure)
  await expect(put(vault, 'b', credentials('b'))).rejects.toMatchObject(failure)
})

test('a symbolic link in place of the file is refused, and what it leads to stays as it is', async () => {
  const path = newPath()
  await filled(path)
  const before = readFileSync(path, 'utf8')
  const link = join(dirname(newPath()), 'link.json')
  symlinkSync(path, link)
  const failure = { kind: 'vault_unsafe', message: expect.stringContaining('symbolic link') as unknown }
  await expect(fileVault({ path: link }).read('a')).rejects.toMatchObject(failure)
  await expect(put(fileVault({ path: link }), 'b', credentials('b'))).rejects.toMatchObject(failure)
  expect(readFileSync(path, 'utf8')).toBe(before)
  rmSync(path)
  await expect(put(fileVault({ path: link }), 'a', credentials('a'))).rejects.toMatchObject(failure)
  expect(readdirSync(dirname(path))).not.toContain('credentials.json')
})

test('a link to the folder of the file is followed', async () => {
  const path = newPath()
  await filled(path)
  const folder = join(dirname(newPath()), 'link')
  symlinkSync(dirname(path), folder)
  expect(await fileVault({ path: join(folder, basename(path)) }).read('a')).toEqual(credentials('a'))
})

test('a file with a second name is refused', async () => {
  const path = newPath()
  const { vault } = await filled(path)
  linkSync(path, join(dirname(newPath()), 'second.json'))
  const failure = { kind: 'vault_unsafe', message: expect.stringContaining('hard link') as unknown }
  await expect(vault.read('a')).rejects.toMatchObject(failure)
  await expect(put(vault, 'b', credentials('b'))).rejects.toMatchObject(failure)
})

test('a folder above that everyone can change is refused', async () => {
  const above = dirname(newPath())
  const path = join(above, 'inner', 'credentials.json')
  const vault = fileVault({ path })
  await put(vault, 'a', credentials('a'))
  chmodSync(above, 0o777)
  await expect(vault.read('a')).rejects.toMatchObject({
    kind: 'vault_unsafe',
    message: expect.stringContaining(`chmod o-w ${above}`) as unknown,
  })
  chmodSync(above, 0o1777)
  expect(await vault.read('a')).toEqual(credentials('a'))
})

// These need two users; a container usually runs tests as root, which can give files away.
const isRoot = process.getuid?.() === 0

test('files and folders of other users are refused', async () => {
  const path = newPath()
  const { vault } = await filled(path)
  if (isRoot) chownSync(path, 1234, 1234)
  const other = isRoot ? vault : fileVault({ path: '/etc/passwd' })
  await expect(other.read('a')).rejects.toMatchObject({ kind: 'vault_unsafe' })
  await expect(put(other, 'a', credentials('b'))).rejects.toMatchObject({ kind: 'vault_unsafe' })
  if (!isRoot) return
  chownSync(path, 0, 0)
  expect(await vault.read('a')).toEqual(credentials('a'))
  chownSync(dirname(path), 1234, 1234)
  await expect(vault.read('a')).rejects.toThrow('belongs to another user')
})

test('folders above that belong to other users, or that another group can change, are refused', async () => {
  const above = dirname(newPath())
  const vault = fileVault({ path: join(above, 'inner', 'credentials.json') })
  await put(vault, 'a', credentials('a'))
  if (!isRoot) return
  chownSync(above, 1234, 1234)
  await expect(vault.read('a')).rejects.toThrow(`${above}: it belongs to another user`)
  await expect(put(vault, 'a', credentials('b'))).rejects.toThrow(`${above}: it belongs to another user`)
  chownSync(above, 0, 1234)
  chmodSync(above, 0o775)
  await expect(vault.read('a')).rejects.toThrow(`chmod g-w ${above}`)
  chmodSync(above, 0o755)
  expect(await vault.read('a')).toEqual(credentials('a'))
})

test('a link to the folder is refused where others can change it', async () => {
  const path = newPath()
  await filled(path)
  const shared = dirname(newPath())
  symlinkSync(dirname(path), join(shared, 'folder'))
  const vault = fileVault({ path: join(shared, 'folder', basename(path)) })
  expect(await vault.read('a')).toEqual(credentials('a'))
  chmodSync(shared, 0o777)
  await expect(vault.read('a')).rejects.toThrow(`chmod o-w ${shared}`)
})

test('a pipe or folder in place of the file is refused without waiting', async () => {
  const path = newPath()
  execFileSync('mkfifo', ['-m', '600', path])
  await expect(fileVault({ path }).read('a')).rejects.toThrow('it is not a file')
  const other = newPath()
  mkdirSync(other, { mode: 0o700 })
  await expect(fileVault({ path: other }).read('a')).rejects.toThrow('it is not a file')
  const within = join(newPath(), 'x', 'y')
  writeFileSync(dirname(dirname(within)), '', { mode: 0o600 })
  await expect(put(fileVault({ path: within }), 'a', credentials('a'))).rejects.toMatchObject({
    kind: 'vault_failed',
  })
})

test('no error, warning or inspection shows what is stored', async () => {
  const path = newPath()
  const { vault, warnings } = await filled(path)
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, -10))
  await vault.read('a')
  const shown = [inspect(vault, { depth: 9, showHidden: true }), JSON.stringify(vault), ...warnings]
  for (const text of shown) expect(text).not.toMatch(/access-a|refresh-a|hush/)
})

test('the default is in the folder of the user, and options are checked', async () => {
  const home = dirname(newPath())
  for (const [name, value] of Object.entries({ XDG_CONFIG_HOME: home, LOCALAPPDATA: home, HOME: home })) {
    const before = process.env[name]
    process.env[name] = value
    onTestFinished(() => {
      if (before === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = before
    })
  }
  await put(fileVault(), 'a', credentials('a'))
  const found = execFileSync('find', [home, '-name', 'credentials.json'], { encoding: 'utf8' })
  expect(found.trim()).toMatch(/pierhead.credentials\.json$/)
  expect(() => fileVault({ file: 'x' } as never)).toThrow('there is no option "file"')
  expect(() => fileVault({ path: '' })).toThrow('path must be')
  expect(() => fileVault({ path: 7 } as never)).toThrow('path must be')
})

test('a runtime without files says so', () => {
  expect(() => absent.openFileVault()).toThrow('memoryVault')
  expect(() => absent.openKeyringVault()).toThrow('memoryVault')
})
