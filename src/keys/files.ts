import { createPrivateKey, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { badOption } from '../base/options.ts'
import { CHANGE, fileDanger, folderDanger, READ_OR_CHANGE, type Danger } from './danger.ts'
import type { KeyPair } from '../rpc/client-keys.ts'
import { withLock } from './lock.ts'
import type { PinnedKey } from './options.ts'
import { findUnsafe } from './path-danger.ts'
import { readPinned } from './pinned.ts'
import { publicTextOf, toPublicKey } from './public-key.ts'

/** The largest file of keys. */
const MOST_BYTES = 10_000_000

/** Reads the key pair in a file; creates both if the file does not exist. */
export function createKeys(file: string): KeyPair {
  const path = resolve(file)
  const stored = readOwn('createKeys', path, READ_OR_CHANGE) ?? store(path)
  const key = toPrivateKey(path, stored)
  const { text, fingerprint } = toPublicKey('createKeys', publicTextOf(key))
  return { publicKey: text, fingerprint, sign: (bytes) => sign(null, bytes, key) }
}

/** Adds a public key to a file of keys that a server allows, or replaces its entry. Other processes that do so at the same time wait. */
export function pinKey(file: string, pinned: PinnedKey): void {
  const path = resolve(file)
  const { text } = readPinned('pinKey', [pinned])[0]!.key
  prepareFolder('pinKey', dirname(path))
  const add = (isHeld: () => boolean): boolean => {
    const others = readPinFile('pinKey', path, []).filter(({ key }) => key !== text)
    let isDone = false
    write('pinKey', path, `${JSON.stringify([...others, pinned], null, 2)}\n`, (fresh) => {
      isDone = isHeld()
      if (isDone) renameSync(fresh, path)
    })
    return isDone
  }
  while (!withLock(`${path}.lock`, add));
}

/** Reads a file of keys that a server allows. */
export function readPinFile(
  where: string,
  path: string,
  missing?: readonly PinnedKey[],
): readonly PinnedKey[] {
  const text = readOwn(where, path, CHANGE)
  if (text === undefined && missing !== undefined) return missing
  if (text === undefined) throw badOption(where, `${path} does not exist; pinKey of pierhead/auth creates it`)
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    list = undefined
  }
  if (!Array.isArray(list))
    throw badOption(where, `${path} is not a list of keys in JSON; pinKey writes such files`)
  readPinned(`${where} ${path}`, list as readonly PinnedKey[])
  return list as readonly PinnedKey[]
}

/** Stores a new private key. If another process was faster, its key counts. */
function store(path: string): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string
  try {
    write('createKeys', path, pem, (fresh) => linkSync(fresh, path))
    return pem
  } catch (error) {
    const stored = readOwn('createKeys', path, READ_OR_CHANGE)
    if (stored === undefined) throw error
    return stored
  }
}

/** Writes a file that only its owner may read. Nobody sees it before it is complete. */
function write(where: string, path: string, text: string, place: (fresh: string) => void): void {
  prepareFolder(where, dirname(path))
  const fresh = `${path}.${randomUUID()}`
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode: 0o600 })
    place(fresh)
  } finally {
    rmSync(fresh, { force: true })
  }
}

/** Creates the folder of a file that is written, if necessary. */
function prepareFolder(where: string, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  checkFolder(where, folder)
  checkWay(where, folder)
}

/** Reads a file unless other users may do with it what they must not; undefined if it does not exist. */
function readOwn(where: string, path: string, forbidden: number): string | undefined {
  const file = openFile(path)
  if (file === undefined) return undefined
  try {
    const facts = fstatSync(file)
    check(where, path, fileDanger(path, facts, forbidden))
    if (facts.size > MOST_BYTES)
      throw badOption(where, `${path} is larger than ${MOST_BYTES} bytes, so it holds no keys`)
    checkFolder(where, dirname(realpathSync(path)))
    checkWay(where, path)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** The opened file is checked, so that it cannot be exchanged in between. With NONBLOCK, a pipe does not block. */
function openFile(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Whoever can change the folder can replace the file. */
function checkFolder(where: string, folder: string): void {
  check(where, folder, folderDanger(folder, statSync(folder)))
}

/** Whoever can change what is on the way to the file can make the path lead to another one. */
function checkWay(where: string, path: string): void {
  const unsafe = findUnsafe(path)
  if (unsafe !== undefined) check(where, unsafe.path, unsafe.danger)
}

function check(where: string, path: string, danger: Danger): void {
  if (danger !== undefined) throw badOption(where, `keys are not safe in ${path}: ${danger}`)
}

function toPrivateKey(path: string, pem: string): KeyObject {
  let key: KeyObject | undefined
  try {
    key = createPrivateKey(pem)
  } catch {
    // The message below says more.
  }
  if (key?.asymmetricKeyType === 'ed25519') return key
  const reason = `${path} does not contain an Ed25519 private key in PEM; name another file, or remove it to create a new pair`
  throw badOption('createKeys', reason)
}
