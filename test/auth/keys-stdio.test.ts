import { join } from 'node:path'
import { Client as OfficialClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { allowKeys, createKeys, pinKey, type KeyPair } from '../../src/auth.ts'
import { connect, createClient, McpError } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { command, connected, folder, who } from './keys-child.ts'

const file = (name: string): string => join(folder, name)
const anna = createKeys(file('anna.pem'))
const berta = createKeys(file('berta.pem'))
const server = createKeys(file('server.pem'))
const clients = [{ key: anna.publicKey, sub: 'anna', scopes: ['write'] }]
const ANNA = { sub: 'anna', scopes: ['write'], fingerprint: anna.fingerprint }

/** The error of a connection that fails. */
async function failureOf(attempt: Promise<unknown>): Promise<McpError> {
  const error: unknown = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(McpError)
  return error as McpError
}

test('local key-pair exchange in stdio mode: a client with an allowed key proves it before the first message and is the caller; no other client, with another key or without any, reaches the server [S1-6.1-4]', async () => {
  const plan = { clients, own: file('server.pem') }
  const keys = { own: anna, server: server.publicKey }
  for (const revision of REVISIONS) expect(await who(await connected(plan, { keys, revision }))).toEqual(ANNA)
  const other = await failureOf(connected(plan, { keys: { own: berta } }))
  expect([other.kind, other.message]).toEqual([
    'keys_failed',
    expect.stringContaining(`pin it on the server: pinKey(file, { key: '${berta.publicKey}' })`),
  ])
  const none = await failureOf(connected(plan))
  expect(none.message).toContain('only clients that prove their key pair first (dev.pierhead/keys)')
  // Someone who knows only the public key of anna cannot sign.
  const thief: KeyPair = { ...anna, sign: berta.sign }
  expect((await failureOf(connected(plan, { keys: { own: thief } }))).message).toContain(
    'the signature is wrong',
  )
})

describe('the caller', () => {
  test('has the scopes of its key, and its fingerprint as the default name', async () => {
    const plain = await connected({ clients: [{ key: anna.publicKey }] }, { keys: { own: anna } })
    expect(await who(plain)).toEqual({ sub: anna.fingerprint, scopes: [], fingerprint: anna.fingerprint })
    await expect(plain.call('write')).rejects.toThrow('the caller lacks write')
    const able = await connected({ clients }, { keys: { own: anna } })
    expect(await able.call('write')).toBe('written')
  })

  test('may be in a file that pinKey wrote', async () => {
    const allowed = file('allowed.json')
    pinKey(allowed, { key: berta.publicKey, sub: 'berta' })
    pinKey(allowed, { key: anna.publicKey, sub: 'anna', scopes: ['write'] })
    expect(await who(await connected({ clients: allowed }, { keys: { own: anna } }))).toEqual(ANNA)
    const second = await connected({ clients: allowed }, { keys: { own: berta } })
    expect(await who(second)).toMatchObject({ sub: 'berta', scopes: [] })
  })

  test('proves its key again when the client restarts the server', async () => {
    const client = createClient(command({ clients }), { keys: { own: anna } })
    onTestFinished(() => client.close())
    const first = await who(client)
    await client.answer({ roots: () => [] })
    expect(await who(client)).toEqual(first)
  })
})

describe('the server', () => {
  test('without a pair is accepted unless the client pins one', async () => {
    expect(await who(await connected({ clients }, { keys: { own: anna } }))).toEqual(ANNA)
    const error = await failureOf(connected({ clients }, { keys: { own: anna, server: server.publicKey } }))
    expect(error.message).toContain('it has no key, but keys.server names one')
  })

  test('with another key than the pinned one is rejected before the client proves anything', async () => {
    let signed = 0
    const own: KeyPair = {
      ...anna,
      sign: (bytes) => {
        signed++
        return anna.sign(bytes)
      },
    }
    const plan = { clients, own: file('server.pem') }
    const error = await failureOf(connected(plan, { keys: { own, server: [berta.publicKey] } }))
    expect(error.message).toContain(`its key ${server.publicKey} is not in keys.server`)
    expect(signed).toBe(0)
    await connected(plan, { keys: { own, server: [berta.publicKey, server.publicKey] } })
    expect(signed).toBe(1)
  })

  test('that does not ask for keys fails the connection, unless keys are optional', async () => {
    const error = await failureOf(connected({}, { keys: { own: anna } }))
    expect([error.kind, error.message]).toEqual([
      'keys_failed',
      expect.stringMatching(/it does not ask for keys .*set keys\.optional/),
    ])
    expect(error.retryable).toBe(false)
    const keys = { own: anna, optional: true }
    expect(await who(await connected({}, { keys }))).toBeNull()
    expect(await who(await connected({ clients }, { keys }))).toEqual(ANNA)
    const rejected = await failureOf(connected({ clients }, { keys: { own: berta, optional: true } }))
    expect(rejected.kind).toBe('keys_failed')
  })

  test('that ignores what it does not know fails the connection in time, unless keys are optional', async () => {
    const mute = `process.stdin.on('data', (chunk) => {
      for (const line of String(chunk).split('\\n').filter(Boolean)) {
        const { id, method } = JSON.parse(line)
        const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'mute', version: '1' } }
        if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
      }
    })`
    const target = { command: process.execPath, args: ['-e', mute] }
    const error = await failureOf(connect(target, { keys: { own: anna }, timeout: '500ms' }))
    expect(error.message).toMatch(/it has not answered, so it may not ask for keys.*set keys\.optional/)
    const optional = { keys: { own: anna, optional: true }, probe: '500ms' }
    const client = await connect(target, optional)
    onTestFinished(() => client.close())
    expect((await client.server()).info).toMatchObject({ name: 'mute' })
  })
})

test('a caller who is revoked loses the connection, and gets no other', async () => {
  const client = await connected({ clients }, { keys: { own: anna }, recovery: false })
  const downs: string[] = []
  client.on('warning', (text) => void downs.push(text))
  await client.call('leave').catch(() => undefined)
  await expect.poll(() => downs.join('\n')).toContain('exited with code 0')
  const error = await failureOf(connected({ clients, revoked: true }, { keys: { own: anna } }))
  expect(error.message).toContain('its owner was revoked')
})

test('a client that closes during the exchange does not wait for the server', async () => {
  const target = { command: process.execPath, args: ['-e', 'setInterval(() => undefined, 1000)'] }
  const client = createClient(target, { keys: { own: anna }, timeout: '10m', total: '1h' })
  const opening = failureOf(client.open())
  await new Promise((resolve) => setTimeout(resolve, 200))
  await client.close()
  expect((await opening).kind).toBe('closed')
})

test('a server that exits during the exchange is reported with the end of its stderr', async () => {
  const args = ['-e', 'process.stdin.once("data", () => { console.error("no luck"); process.exit(3) })']
  const error = await failureOf(connect({ command: process.execPath, args }, { keys: { own: anna } }))
  expect(error.message).toMatch(/exited with code 3[\s\S]*no luck/)
})

test('other clients of a server without keys never see the exchange, and get a clear error from one with keys', async () => {
  const official = async (plan: object): Promise<unknown> => {
    const client = new OfficialClient({ name: 'official', version: '1' })
    const { command: program, args } = command(plan)
    await client.connect(new StdioClientTransport({ command: program, args: [...args], stderr: 'ignore' }))
    onTestFinished(() => client.close())
    return [client.getServerCapabilities(), (await client.callTool({ name: 'who' })).content]
  }
  const seen = await official({})
  expect(JSON.stringify(seen)).not.toContain('keys')
  await expect(official({ clients })).rejects.toThrow('only clients that prove their key pair first')
})

describe('mistakes in the options are errors that say what to do', () => {
  const key = anna.publicKey

  test.each<readonly [string, () => unknown, string]>([
    ['a client without a key', () => allowKeys([{ sub: 'anna' } as never]), 'key is missing'],
    [
      'a key that is none',
      () => allowKeys([{ key: 'ssh-ed25519 AAAA' }]),
      'the given text is not a public key',
    ],
    ['a misspelt option', () => allowKeys([{ key, scope: [] } as never]), 'did you mean "scopes"?'],
    ['a scope with a space', () => allowKeys([{ key, scopes: ['a b'] }]), 'scopes must be'],
    ['the same key twice', () => allowKeys([...clients, ...clients]), 'occurs twice'],
    ['one key instead of a list', () => allowKeys({ key } as never), 'give a list of keys'],
    ['a file that does not exist', () => allowKeys(file('none.json')), 'pinKey of pierhead/auth creates it'],
    ['the path of a pair', () => allowKeys(clients, { own: 'key.pem' } as never), "createKeys('key.pem')"],
  ])('on the server: %s', (_, allow, message) => {
    expect(allow).toThrow(message)
  })

  test.each<readonly [string, object, string]>([
    ['the path of a file', { keys: 'allowed-keys.json' }, "keys must be allowKeys('allowed-keys.json')"],
    ['scopes of all', { keys: allowKeys(clients), scopes: ['a'] }, 'each key has its own scopes'],
  ])('in listen: %s', async (_, stdio, message) => {
    const app = createServer({ name: 'keys', version: '1' })
    await expect(app.listen({ stdio })).rejects.toThrow(message)
  })

  test.each<readonly [string, object, string]>([
    ['no pair', {}, 'own is missing'],
    ['a server key that is none', { own: anna, server: 'x' }, 'the given text is not a public key'],
    ['no server key at all', { own: anna, server: [] }, 'an empty list would reject every server'],
    [
      'optional with a pinned server',
      { own: anna, server: server.publicKey, optional: true },
      'remove optional',
    ],
  ])('in the client: %s', async (_, keys, message) => {
    await expect(connect(command({}), { keys: keys as { own: KeyPair } })).rejects.toThrow(message)
  })

  test('keys for a URL', async () => {
    await expect(connect('http://127.0.0.1:1/mcp', { keys: { own: anna } })).rejects.toThrow(
      'connect keys: it applies only to server programs',
    )
  })
})
