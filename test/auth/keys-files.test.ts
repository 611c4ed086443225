import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { allowKeys, createKeys, pinKey } from '../../src/auth.ts'
import * as absent from '../../src/keys/absent.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-key-files-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string): string => join(folder, name)

test('a pair is created once, in a file that only its owner can read', () => {
  const path = file('new/folder/key.pem')
  const first = createKeys(path)
  expect(first.publicKey).toMatch(/^ed25519:[\w-]{43}$/)
  expect(first.fingerprint).toMatch(/^sha256:[\w-]{43}$/)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(file('new')).mode & 0o777).toBe(0o700)
  expect(readdirSync(file('new/folder'))).toEqual(['key.pem'])
  const again = createKeys(path)
  expect([again.publicKey, again.fingerprint]).toEqual([first.publicKey, first.fingerprint])
  expect(createKeys(file('other.pem')).publicKey).not.toBe(first.publicKey)
})

test('a pair that openssl created is used', () => {
  const path = file('openssl.pem')
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', path])
  chmodSync(path, 0o600)
  const shown = execFileSync('openssl', ['pkey', '-in', path, '-pubout', '-outform', 'DER'])
  expect(createKeys(path).publicKey).toBe(`ed25519:${shown.subarray(-32).toString('base64url')}`)
})

test('a pair does not show its private key', () => {
  const path = file('hidden.pem')
  const keys = createKeys(path)
  const secret = readFileSync(path, 'utf8').split('\n')[1] as string
  for (const text of [JSON.stringify(keys), inspect(keys, { depth: 9, showHidden: true })]) {
    expect(text).toContain(keys.publicKey)
    expect(text).not.toContain(secret)
  }
})

test('a private key that others can read is rejected, and so is a file with something else', () => {
  const path = file('open.pem')
  createKeys(path)
  chmodSync(path, 0o640)
  expect(() => createKeys(path)).toThrow(`${path}: other users can read it; run: chmod 600`)
  const wrong = file('wrong.pem')
  execFileSync('openssl', ['genpkey', '-algorithm', 'x25519', '-out', wrong])
  chmodSync(wrong, 0o600)
  expect(() => createKeys(wrong)).toThrow('does not contain an Ed25519 private key')
  writeFileSync(wrong, 'hello')
  expect(() => createKeys(wrong)).toThrow('does not contain an Ed25519 private key')
})

test('keys are pinned one after the other, and a key that is there already is replaced', () => {
  const path = file('pinned/allowed.json')
  const [anna, berta] = [createKeys(file('anna.pem')), createKeys(file('berta.pem'))]
  pinKey(path, { key: anna.publicKey, sub: 'anna' })
  pinKey(path, { key: berta.publicKey })
  pinKey(path, { key: anna.publicKey, sub: 'anna', scopes: ['read'] })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual([
    { key: berta.publicKey },
    { key: anna.publicKey, sub: 'anna', scopes: ['read'] },
  ])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(file('pinned'))).toEqual(['allowed.json'])
})

test('what is not a key is not pinned, and a file that others can change is not used', () => {
  const path = file('careful.json')
  const { publicKey: key } = createKeys(file('careful.pem'))
  expect(() => pinKey(path, { key: `${key}A` })).toThrow('is not a public key')
  expect(() => pinKey(path, { key, scope: ['a'] } as never)).toThrow('did you mean "scopes"?')
  expect(() => pinKey(path, { key, sub: '' })).toThrow('sub must be a non-empty string')
  pinKey(path, { key })
  chmodSync(path, 0o622)
  expect(() => pinKey(path, { key })).toThrow(`${path}: other users can change it; run: chmod 600`)
  chmodSync(path, 0o644)
  pinKey(path, { key })
  writeFileSync(path, '{"keys":')
  expect(() => pinKey(path, { key })).toThrow('is not a list of keys in JSON')
})

test('a folder that others can change is not used for keys, whether the file exists or not', () => {
  const [key, pins] = [file('shared/key.pem'), file('shared/pins.json')]
  const pinned = { key: createKeys(key).publicKey }
  pinKey(pins, pinned)
  chmodSync(file('shared'), 0o770)
  for (const use of [
    () => createKeys(key),
    () => createKeys(file('shared/new.pem')),
    () => pinKey(pins, pinned),
    () => pinKey(file('shared/new.json'), pinned),
    () => allowKeys(pins),
  ])
    expect(use).toThrow(`${file('shared')}: other users can change the folder; run: chmod go-w`)
  const link = file('link.pem')
  symlinkSync(key, link)
  expect(() => createKeys(link)).toThrow('other users can change the folder')
  expect(readdirSync(file('shared')).toSorted()).toEqual(['key.pem', 'pins.json'])
  chmodSync(file('shared'), 0o755)
  expect(createKeys(link).publicKey).toBe(pinned.key)
})

// Giving files to another user needs the rights of the administrator, which tests in containers usually have.
const isRoot = process.getuid?.() === 0

test('keys in files and folders of other users are not used', () => {
  const [key, pins] = [file('given/key.pem'), file('given/pins.json')]
  pinKey(pins, { key: createKeys(key).publicKey })
  if (isRoot) for (const path of [key, pins]) chownSync(path, 1234, 1234)
  const paths = isRoot ? [key, pins] : ['/etc/passwd', '/nowhere']
  expect(() => createKeys(paths[0]!)).toThrow(isRoot ? 'belongs to another user' : 'not safe')
  expect(() => allowKeys(paths[1]!)).toThrow(isRoot ? 'belongs to another user' : 'does not exist')
  if (!isRoot) return
  for (const path of [key, pins]) chownSync(path, 0, 0)
  createKeys(key)
  chownSync(file('given'), 1234, 1234)
  expect(() => createKeys(key)).toThrow('belongs to another user')
  expect(() => allowKeys(pins)).toThrow('belongs to another user')
})

/** A folder with keys that are safe, in a folder of the given name, and what reads them by a path. */
function safeKeys(name: string): { readonly above: string; readonly inner: string } {
  const above = file(name)
  const inner = join(above, 'inner')
  pinKey(join(inner, 'pins.json'), { key: createKeys(join(inner, 'key.pem')).publicKey })
  return { above, inner }
}

function readers(folderPath: string): readonly (() => unknown)[] {
  return [() => createKeys(join(folderPath, 'key.pem')), () => allowKeys(join(folderPath, 'pins.json'))]
}

test('keys are not used below a folder that others can change, unless only owners can exchange what it contains', () => {
  const { above, inner } = safeKeys('above')
  const pinned = { key: createKeys(join(inner, 'key.pem')).publicKey }
  chmodSync(above, 0o777)
  for (const use of [...readers(inner), () => pinKey(join(inner, 'new.json'), pinned)])
    expect(use).toThrow(`${above}: everyone can change the folder; run: chmod o-w ${above}`)
  chmodSync(above, 0o1777)
  for (const use of readers(inner)) expect(use).not.toThrow()
})

test('links to keys, or to their folders, are not used in a folder that others can change', () => {
  const { inner } = safeKeys('linked')
  const shared = file('links')
  mkdirSync(shared)
  for (const name of ['key.pem', 'pins.json']) symlinkSync(join(inner, name), join(shared, name))
  symlinkSync(inner, join(shared, 'folder'))
  // A link to a link, with a relative path.
  mkdirSync(file('further'))
  for (const name of ['key.pem', 'pins.json']) symlinkSync(`../links/${name}`, file(`further/${name}`))
  const ways = [shared, join(shared, 'folder'), file('further')].flatMap(readers)
  for (const use of ways) expect(use).not.toThrow()
  chmodSync(shared, 0o777)
  for (const use of ways) expect(use).toThrow(`${shared}: everyone can change the folder`)
})

test('keys are not used below folders and through links of other users and groups', () => {
  const { above, inner } = safeKeys('theirs')
  for (const use of readers(inner)) expect(use).not.toThrow()
  if (!isRoot) return
  chownSync(above, 1234, 1234)
  for (const use of readers(inner)) expect(use).toThrow(`${above}: it belongs to another user`)
  chownSync(above, 0, 1234)
  chmodSync(above, 0o775)
  for (const use of readers(inner))
    expect(use).toThrow(`${above}: its group can change the folder; run: chmod g-w`)
  // A group with the number of its user has no other members.
  chownSync(above, 0, 0)
  for (const use of readers(inner)) expect(use).not.toThrow()
  const link = file('their-link')
  symlinkSync(inner, link)
  lchownSync(link, 1234, 1234)
  for (const use of readers(link)) expect(use).toThrow(`${link}: it belongs to another user`)
})

test('a link that leads to itself is an error', () => {
  symlinkSync('circle', file('circle'))
  expect(() => allowKeys(file('circle'))).toThrow('ELOOP')
})

test('a pipe or folder in place of a file is rejected without waiting', () => {
  execFileSync('mkfifo', ['-m', '600', file('pipe')])
  expect(() => createKeys(file('pipe'))).toThrow('it is not a file')
  expect(() => allowKeys(folder)).toThrow('it is not a file')
})

test('runtimes without files say so', () => {
  expect(() => absent.createKeys()).toThrow('this runtime does not have')
  expect(() => absent.pinKey()).toThrow('this runtime does not have')
  expect(() => absent.allowKeys()).toThrow('this runtime does not have')
})
