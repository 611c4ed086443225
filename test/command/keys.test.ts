import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allowKeys, createKeys } from 'pierhead/auth'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { line } from './line.ts'

/** The bits of a mode that say what others may do; Windows has none. */
const OTHERS = process.platform === 'win32' ? 0 : 0o077

let cwd = ''

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'pierhead-keys-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
})

describe('keys', () => {
  it('creates a pair once, and shows only its public part', async () => {
    const created = await line(['keys', 'create', 'client-key.pem'], { cwd })
    const file = join(cwd, 'client-key.pem')
    const { publicKey, fingerprint } = createKeys(file)
    expect(JSON.parse(created.stdout)).toEqual({ file, isNew: true, publicKey, fingerprint })
    expect(statSync(file).mode & OTHERS).toBe(0)
    const again = await line(['keys', 'create', 'client-key.pem'], { cwd, terminal: true })
    expect(again.stdout).toContain('has a pair already')
    const shown = await line(['keys', 'show', 'client-key.pem'], { cwd, terminal: true })
    expect(shown.stdout).toContain(`public key   ${publicKey}`)
    const secret = readFileSync(file, 'utf8').split('\n')[1] ?? ''
    for (const { stdout, stderr } of [created, again, shown]) expect(stdout + stderr).not.toContain(secret)
  })

  it('allows a key, which a server then accepts', async () => {
    const { publicKey } = JSON.parse((await line(['keys', 'create', 'client-key.pem'], { cwd })).stdout)
    const args = [
      'keys',
      'allow',
      'allowed.json',
      publicKey,
      '--sub',
      'anna',
      '--scope',
      'a:b',
      '--scope',
      'c',
    ]
    const allowed = await line(args, { cwd, terminal: true })
    expect(allowed.stdout).toContain('allowed.json now allows anna with a:b c')
    const file = join(cwd, 'allowed.json')
    expect(statSync(file).mode & OTHERS).toBe(0)
    expect(() => allowKeys(file)).not.toThrow()
    const list = await line(['keys', 'show', 'allowed.json'], { cwd })
    expect(JSON.parse(list.stdout).keys).toEqual([{ key: publicKey, sub: 'anna', scopes: ['a:b', 'c'] }])
    const shown = await line(['keys', 'show', 'allowed.json'], { cwd, terminal: true })
    expect(shown.stdout).toContain(`${publicKey}  anna   a:b c`)
  })

  it('keeps the owner and the scopes of a key that is allowed again, unless they are given', async () => {
    const { publicKey } = JSON.parse((await line(['keys', 'create', 'client-key.pem'], { cwd })).stdout)
    const allow = async (...more: readonly string[]): Promise<unknown> => {
      const allowed = await line(['keys', 'allow', 'allowed.json', publicKey, ...more], { cwd })
      const { file: _, key, ...entry } = JSON.parse(allowed.stdout) as Record<string, unknown>
      const list = await line(['keys', 'show', 'allowed.json'], { cwd })
      expect(JSON.parse(list.stdout).keys).toEqual([{ key, ...entry }])
      return entry
    }
    expect(await allow('--sub', 'anna', '--scope', 'a:b')).toEqual({ sub: 'anna', scopes: ['a:b'] })
    expect(await allow()).toEqual({ sub: 'anna', scopes: ['a:b'] })
    expect(await allow('--sub', 'ann')).toEqual({ sub: 'ann', scopes: ['a:b'] })
    expect(await allow('--scope', 'c')).toEqual({ sub: 'ann', scopes: ['c'] })
  })

  it.each([
    [['keys', 'create'], 'the file is missing'],
    [['keys', 'show', 'missing.pem'], 'pierhead keys create missing.pem'],
    [['keys', 'allow', 'allowed.json'], 'the key is missing'],
    [['keys', 'allow', 'allowed.json', '-----BEGIN PRIVATE KEY-----'], 'fix: '],
    [['keys', 'allow', 'allowed.json', 'MC4CAQAwBQYDK2VwBCIEIA'], 'the key is not a public key'],
    [['keys', 'allow', 'allowed.json', 'ed25519:abc'], 'is not a public key'],
    [['keys', 'show', 'evil.json'], 'fix: '],
    [['keys', 'show', 'text.pem'], 'does not contain an Ed25519 private key'],
  ])('rejects %j, and says what to do', async (args, text) => {
    writeFileSync(join(cwd, 'evil.json'), '[{"key":"ed25519:\\u001b[31m"}]', { mode: 0o600 })
    writeFileSync(join(cwd, 'text.pem'), 'hello', { mode: 0o600 })
    const { code, stdout, stderr } = await line(args, { cwd, terminal: true })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(text)
    expect(stderr.replaceAll('\r\u001b[2K', '')).not.toContain('\u001b')
    expect(existsSync(join(cwd, 'allowed.json'))).toBe(false)
  })

  it('rejects a pair that others can read', async () => {
    await line(['keys', 'create', 'client-key.pem'], { cwd })
    chmodSync(join(cwd, 'client-key.pem'), 0o644)
    const { code, stderr } = await line(['keys', 'show', 'client-key.pem'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain('keys are not safe')
  })
})
