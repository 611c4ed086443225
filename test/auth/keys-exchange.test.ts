import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createKeys, type KeyPair } from '../../src/auth.ts'
import {
  newChallenge,
  readSignature,
  signatureText,
  statementOf,
  type Facts,
} from '../../src/keys/exchange.ts'
import { readPublicKey } from '../../src/keys/public-key.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { call, initialize } from '../http/messages.ts'
import { folder, RawServer } from './keys-child.ts'
import type { ServerPlan } from './keys-server.ts'

const BEGIN = 'dev.pierhead/keys/begin'
const PROVE = 'dev.pierhead/keys/prove'
let anna: KeyPair
let berta: KeyPair
let own: KeyPair
let plan: ServerPlan

beforeAll(() => {
  anna = createKeys(join(folder, 'anna.pem'))
  berta = createKeys(join(folder, 'berta.pem'))
  own = createKeys(join(folder, 'own.pem'))
  const clients = [anna, berta].map(({ publicKey }) => ({ key: publicKey }))
  plan = { clients, own: join(folder, 'own.pem') }
})

/** Begins an exchange; returns its facts. */
async function begin(server: RawServer, who: KeyPair = anna, challenge = newChallenge()): Promise<Facts> {
  const result = await server.result(BEGIN, { version: 1, challenge, key: who.publicKey })
  return {
    clientChallenge: challenge,
    serverChallenge: result['challenge'] as string,
    clientKey: who.publicKey,
    serverKey: result['key'] as string | undefined,
  }
}

function proofOf(facts: Facts, who: KeyPair = anna): JsonObject {
  return { signature: signatureText(who.sign(statementOf('client', facts))) }
}

const errorOf = (reply: JsonObject): JsonObject => reply['error'] as JsonObject

test('the exchange is as documented, and both sides sign the same facts', async () => {
  const server = new RawServer(plan)
  const challenge = newChallenge()
  const begun = await server.result(BEGIN, { version: 1, challenge, key: anna.publicKey })
  expect(Object.keys(begun).toSorted()).toEqual(['challenge', 'key', 'signature', 'version'])
  expect(begun).toMatchObject({ version: 1, key: own.publicKey })
  const lines = [
    'dev.pierhead/keys',
    '1',
    'server',
    challenge,
    begun['challenge'],
    anna.publicKey,
    own.publicKey,
  ]
  const signature = readSignature(begun['signature']) as Uint8Array
  expect(readPublicKey(own.publicKey)?.verifies(Buffer.from(lines.join('\n')), signature)).toBe(true)
  lines[2] = 'client'
  const proof = signatureText(anna.sign(Buffer.from(lines.join('\n'))))
  expect(await server.result(PROVE, { signature: proof })).toEqual({})
  server.write(initialize())
  await expect.poll(() => server.lines.length).toBe(3)
  expect(server.lines[2]).toMatchObject({ id: 1, result: { serverInfo: { name: 'keys' } } })
})

test('before that, every other request gets an error that says what to do, and nothing runs', async () => {
  const server = new RawServer(plan)
  for (const line of [
    initialize(),
    call('who'),
    '{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{}}',
    `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"who","arguments":{"text":"${'x'.repeat(5000)}"}}}`,
    `[${call('who', {}, 5)}]`,
  ])
    server.write(line)
  await expect.poll(() => server.lines.length).toBe(5)
  for (const line of server.lines)
    expect(errorOf(line)).toMatchObject({ code: 1015, data: { refusal: { name: 'AUTH_MISSING' } } })
  expect(server.lines.map(({ id }) => id ?? null)).toEqual([1, 2, 3, 4, null])
  expect(String(errorOf(server.lines[0] as JsonObject)['message'])).toContain('give connect the option keys')
  expect(server.stderr).toContain('a client was rejected')
})

test('notifications, responses and text before it are not acted on', async () => {
  const server = new RawServer(plan)
  server.write('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  server.write('{"jsonrpc":"2.0","id":9,"result":{}}')
  server.write('hello')
  server.write('{"jsonrpc":"2.0","id":10,"method":1}')
  await expect.poll(() => server.lines.length).toBe(2)
  expect(server.lines.map((line) => errorOf(line)['code'])).toEqual([-32700, -32600])
  expect(await server.result(PROVE, proofOf(await begin(server)))).toEqual({})
})

test('a proof from another exchange, of another client or of the server is rejected, and each challenge has one attempt', async () => {
  const server = new RawServer(plan)
  const first = await begin(server)
  const replay = await begin(server, anna, first.clientChallenge)
  expect(replay.serverChallenge).not.toBe(first.serverChallenge)
  expect(errorOf(await server.ask(PROVE, proofOf(first)))).toMatchObject({ code: 1013 })
  // The right proof comes too late.
  expect(errorOf(await server.ask(PROVE, proofOf(replay)))['message']).toContain('the exchange has not begun')
  const others = [
    (facts: Facts) => proofOf(facts, berta),
    (facts: Facts) => ({ signature: signatureText(anna.sign(statementOf('server', facts))) }),
    (facts: Facts) => proofOf({ ...facts, serverKey: undefined }),
    (facts: Facts) => proofOf({ ...facts, clientChallenge: newChallenge() }),
    (facts: Facts) => proofOf({ ...facts, clientKey: berta.publicKey }),
    () => ({ signature: 'A'.repeat(86) }),
    () => ({ signature: 7 }),
    () => ({}),
  ]
  for (const forge of others) {
    const reply = await server.ask(PROVE, forge(await begin(server)) as JsonObject)
    expect(errorOf(reply)).toMatchObject({
      code: 1013,
      data: { refusal: { name: 'AUTH_INVALID_CREDENTIALS' } },
    })
    expect(errorOf(await server.ask('tools/list'))['code']).toBe(1015)
  }
  expect(await server.result(PROVE, proofOf(await begin(server)))).toEqual({})
  expect(errorOf(await server.ask(PROVE, proofOf(await begin(server).catch(() => first))))['code']).not.toBe(
    1013,
  )
})

test('what the server signs for a client does not prove anything to another server', async () => {
  const server = new RawServer(plan)
  const challenge = newChallenge()
  const result = await server.result(BEGIN, { version: 1, challenge, key: anna.publicKey })
  const other = new RawServer({ ...plan, clients: [{ key: own.publicKey }] })
  await other.result(BEGIN, { version: 1, challenge, key: own.publicKey })
  const reply = await other.ask(PROVE, { signature: result['signature'] })
  expect(errorOf(reply)).toMatchObject({ code: 1013 })
})

test('a malformed beginning is rejected with the reason', async () => {
  const server = new RawServer(plan)
  const good = { version: 1, challenge: newChallenge(), key: anna.publicKey }
  const stranger = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x
  for (const [change, reason] of [
    [{ version: 2 }, 'another version of the exchange; this server has 1'],
    [{ challenge: 'short' }, '32 bytes'],
    [{ challenge: undefined }, '32 bytes'],
    [{ challenge: `${good.challenge.slice(0, -1)}~` }, '32 bytes'],
    [{ key: undefined }, 'not an Ed25519 public key'],
    [{ key: 'ed25519:AAAA' }, 'not an Ed25519 public key'],
    [{ key: `ed25519:${stranger}` }, 'is not among the keys that the server allows'],
  ] as const) {
    const reply = await server.ask(BEGIN, { ...good, ...change })
    expect(errorOf(reply)).toMatchObject({ code: 1013 })
    expect(String(errorOf(reply)['message'])).toContain(reason)
  }
  // None of them was the beginning of an exchange.
  const late = await server.ask(PROVE, { signature: 'A'.repeat(86) })
  expect(errorOf(late)['message']).toContain('has not begun')
})

test('a client that does not prove its key in time is gone, and the server says why', async () => {
  const server = new RawServer({ ...plan, headersMs: 300 })
  expect(await server.exited).toBe(0)
  expect(server.stderr).toContain('no client proved its key within 300 ms')
})

test('one that did may be silent for as long as it wants', async () => {
  const server = new RawServer({ ...plan, headersMs: 1500 })
  await server.result(PROVE, proofOf(await begin(server)))
  await new Promise((resolve) => setTimeout(resolve, 2000))
  expect(errorOf(await server.ask('tools/list'))['code']).not.toBe(1015)
})

test('without a client on stdio, other transports go on', async () => {
  const server = new RawServer({ ...plan, headersMs: 300, http: true })
  server.write(initialize())
  await expect.poll(() => server.stderr).toContain('no client proved its key')
  const url = /listening (http\S+)/.exec(server.stderr)?.[1] as string
  const reply = await fetch(url.replace('/mcp', '/healthz'))
  expect(reply.status).toBe(200)
})
