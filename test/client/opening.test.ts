import { describe, expect, test } from 'vitest'
import { connect, createClient } from '../../src/client.ts'
import { META } from '../../src/protocol/meta.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { all, failure } from './gather.ts'
import { scripted, spoken, type Message } from './scripted.ts'

const LATEST = '2026-07-28'
const SHAKEN = REVISIONS.filter((revision) => revision !== LATEST)
const CLIENT = { name: 'mine', version: '9.9.9' }

describe.each(SHAKEN)('a client that opens at %s', (revision) => {
  test('begins with its version, its capabilities and its name, then says that it is ready [R030] [R035] [S0-1.2] [S0-1.4] [S4-5-1] [S2-2.1-5] [S4-5-5] [S3-4.1-1] [S3-4.2-1]', async () => {
    const server = scripted(revision, () => false)
    const answers = { roots: [], sample: () => ({}) }
    await using _ = await connect(server, { revision, client: CLIENT, answers })
    const [first, second] = server.sent() as readonly Message[]
    const requests = { sampling: { createMessage: {} } }
    const tasks = revision === '2025-11-25' ? { tasks: { list: {}, cancel: {}, requests } } : {}
    expect(first).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number),
      method: 'initialize',
      params: {
        protocolVersion: revision,
        capabilities: { roots: { listChanged: true }, sampling: {}, ...tasks },
        clientInfo: CLIENT,
      },
    })
    expect(second).toMatchObject({ method: 'notifications/initialized' })
    expect(second).not.toHaveProperty('id')
  })

  test('declares exactly what its handlers can answer [R200] [S0-5.2] [S4-11-1] [S4-12-1] [S4-13-1] [S4-5-8]', async () => {
    const plain = scripted(revision, () => false)
    await using _ = await connect(plain, { revision })
    expect(plain.sent()[0]).toMatchObject({ params: { capabilities: {} } })
    expect((plain.sent()[0] as Message).params?.['capabilities']).toEqual({})
    const asked = scripted(revision, () => false)
    const elicit = (): { action: 'cancel' } => ({ action: 'cancel' })
    const answers = { elicit, elicitUrl: elicit, sample: () => ({}), sampleTools: true, roots: [] }
    await using __ = await connect(asked, { revision, answers })
    const { capabilities } = (asked.sent()[0] as Message).params as { capabilities: object }
    expect(capabilities).toMatchObject({ roots: { listChanged: true }, sampling: {} })
    expect('elicitation' in capabilities).toBe(revision >= '2025-06-18')
  })

  test('sends nothing before the server has answered; calls wait [R036]', async () => {
    let answer: () => void = () => undefined
    const server = scripted(revision, (message, peer) => {
      if (message.method === 'tools/call') peer.reply({ content: [{ type: 'text', text: 'done' }] })
      if (message.method !== 'initialize') return message.method === 'tools/call'
      const info = { name: 's', version: '1' }
      answer = () => peer.reply({ protocolVersion: revision, capabilities: { tools: {} }, serverInfo: info })
      return true
    })
    await using client = createClient(server, { revision })
    const calls = ['a', 'b', 'c'].map((name) => client.call(name))
    await server.until(({ method }) => method === 'initialize')
    expect(server.sent().length).toBe(1)
    answer()
    expect(await Promise.all(calls)).toEqual(['done', 'done', 'done'])
    const methods = server.sent().map(({ method }) => method)
    expect(methods).toEqual(['initialize', 'notifications/initialized', ...calls.map(() => 'tools/call')])
  })

  test('leaves a server whose version it does not speak, with an error that says so [R034] [S4-5-7]', async () => {
    const server = scripted(revision, ({ method }, peer) => {
      if (method !== 'initialize') return false
      peer.reply({ protocolVersion: '2031-01-01', capabilities: {}, serverInfo: { name: 's', version: '1' } })
      return true
    })
    const error = await failure(connect(server, { revision }))
    expect(error).toMatchObject({ kind: 'no_revision', message: expect.stringContaining('2031-01-01') })
    expect(server.closed).toBe(1)
    expect(server.sent().length).toBe(1)
  })

  test('never cancels the opening: it leaves when it has waited long enough [R041] [S4-14-2]', async () => {
    const server = scripted(revision, () => true)
    const error = await failure(connect(server, { revision, timeout: 40 }))
    expect(error).toMatchObject({ kind: 'timeout' })
    expect(server.closed).toBe(1)
    expect(server.sent().map(({ method }) => method)).toEqual(['initialize'])
  })

  test('nor does it when the call that opened is given up, or the client is closed meanwhile [R041]', async () => {
    const server = scripted(revision, () => true)
    const client = createClient(server, { revision })
    const stop = new AbortController()
    const given = failure(client.call('any', {}, { signal: stop.signal }))
    const waiting = failure(client.call('any'))
    await server.until(({ method }) => method === 'initialize')
    stop.abort()
    expect(await given).toMatchObject({ kind: 'cancelled' })
    await client.close()
    expect(await waiting).toMatchObject({ kind: 'closed' })
    expect(server.closed).toBe(1)
    expect(server.sent().map(({ method }) => method)).toEqual(['initialize'])
  })

  test('ends by closing the connection, without a message [S3-4.4-1]', async () => {
    const server = scripted(revision, () => false)
    const client = await connect(server, { revision })
    const before = server.sent().length
    await client.close()
    expect([server.sent().length, server.closed]).toEqual([before, 1])
  })

  test('keeps to a pinned revision', async () => {
    const server = scripted(revision, ({ method }, peer) => {
      if (method !== 'initialize') return false
      const other = revision === '2024-11-05' ? '2025-03-26' : '2024-11-05'
      peer.reply({ protocolVersion: other, capabilities: {}, serverInfo: { name: 's', version: '1' } })
      return true
    })
    expect(await failure(connect(server, { revision }))).toMatchObject({ kind: 'no_revision' })
  })

  test('is found by a client that asks for the newest first [R030] [S4-5-1] [S2-2.1-5] [S4-5-5] [S0-1.2]', async () => {
    const server = scripted(revision, () => false)
    await using client = await connect(server)
    expect((await client.server()).revision).toBe(revision)
    const methods = server.sent().map(({ method }) => method)
    expect(methods).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
    expect((server.sent()[1] as Message).params?.['protocolVersion']).toBe('2025-11-25')
  })

  test('uses no part of a capability that the server did not declare [S2-9.1-2]', async () => {
    const server = scripted(
      revision,
      ({ method, params }, peer) => {
        if (method !== 'resources/read') return false
        peer.reply({ contents: [{ uri: params?.['uri'], text: 'x' }] })
        return true
      },
      { resources: {} },
    )
    await using client = await connect(server, { revision })
    expect((await client.read('a://b')).contents).toMatchObject([{ text: 'x' }])
    const before = server.sent().length
    expect(await failure(client.subscribe('a://b', () => undefined))).toMatchObject({ kind: 'not_offered' })
    expect(server.sent().length).toBe(before)
  })

  test('uses nothing that the server did not declare [R038] [R039] [S2-13-C2] [S2-9.3-3] [S4-5-8] [S2-15-2]', async () => {
    const server = scripted(revision, () => false, { tools: {} })
    await using client = await connect(server, { revision })
    const before = server.sent().length
    expect(await client.supports('tools')).toBe(true)
    expect(await client.supports('prompts')).toBe(false)
    expect(await all(client.prompts())).toEqual([])
    expect(await all(client.resources())).toEqual([])
    expect(await all(client.templates())).toEqual([])
    await client.setLogLevel('debug')
    for (const refused of [
      () => client.read('a://b'),
      () => client.prompt('p'),
      () => all(client.watch({ resources: ['a://b'] })),
    ])
      expect(await failure(refused())).toMatchObject({ kind: 'not_offered' })
    expect(server.sent().length).toBe(before)
    expect(await failure(client.request('prompts/list'))).toMatchObject({ kind: 'unknown_method' })
  })
})

describe('a client of 2026-07-28', () => {
  test('sends its version, capabilities and name with every request [R042] [R043]', async () => {
    const server = scripted(LATEST, ({ method }, peer) => {
      if (method !== 'tools/call') return false
      peer.reply(spoken('done'))
      return true
    })
    await using client = await connect(server, { client: CLIENT, answers: { roots: [] } })
    await client.call('anything')
    await client.ping()
    expect(server.sent().length).toBe(3)
    for (const message of server.sent() as readonly Message[]) {
      expect(message.params?.['_meta']).toMatchObject({
        [META.protocolVersion]: LATEST,
        [META.clientCapabilities]: { roots: {} },
        [META.clientInfo]: CLIENT,
      })
    }
  })

  test('asks once more when a server refuses a version that it lists, and fails when there is none in common [R047]', async () => {
    let asked = 0
    const unsure = scripted(LATEST, ({ method }, peer) => {
      if (method !== 'server/discover' || ++asked > 1) return false
      peer.refuse(-32022, 'unsupported', { supported: [LATEST], requested: LATEST })
      return true
    })
    await using client = await connect(unsure, { revision: LATEST })
    expect([(await client.server()).revision, asked]).toEqual([LATEST, 2])
    const strange = scripted(LATEST, (_, peer) => {
      peer.refuse(-32022, 'unsupported', { supported: ['2031-01-01'], requested: LATEST })
      return true
    })
    const pinned = await failure(connect(strange, { revision: LATEST }))
    expect(pinned).toMatchObject({ kind: 'revision_unsupported', data: { supported: ['2031-01-01'] } })
    expect(await failure(connect(strange))).toMatchObject({ kind: 'revision_unsupported' })
    const odd = scripted(LATEST, (_, peer) => {
      peer.refuse(-32022, 'unsupported', { supported: [{ toString: 1 }, { toString: 1 }] })
      return true
    })
    expect(await failure(connect(odd, { revision: LATEST }))).toMatchObject({
      kind: 'revision_unsupported',
      message: expect.stringContaining('(it offers {"toString":1}, {"toString":1})') as string,
    })
    const stubborn = scripted(LATEST, (_, peer) => {
      peer.refuse(-32022, 'unsupported', { supported: [LATEST], requested: LATEST })
      return true
    })
    expect(await failure(connect(stubborn, { revision: LATEST }))).toMatchObject({
      kind: 'revision_unsupported',
    })
    expect(stubborn.sent().map(({ method }) => method)).toEqual(['server/discover', 'server/discover'])
  })

  test('sends no response, whatever a server asks [R019]', async () => {
    const asked = { inputRequests: { folders: { method: 'roots/list' } } }
    const server = scripted(LATEST, ({ method, params }, peer) => {
      if (method !== 'tools/call') return false
      peer.send({ id: 77, method: 'roots/list', params: {} })
      peer.send({ id: 78, method: 'ping' })
      if (params?.['inputResponses'] === undefined) peer.reply({ resultType: 'input_required', ...asked })
      else peer.reply(spoken('done'))
      return true
    })
    await using client = await connect(server, { answers: { roots: [] } })
    // What answers a round is loaded by then, so that an answer to the questions would have come too.
    for (let turn = 0; turn < 3; turn++) await client.call('anything')
    await client.ping()
    expect(server.sent().length).toBe(8)
    expect(server.sent().every(({ method }) => typeof method === 'string')).toBe(true)
  })

  test('reads a result without a type as complete, and refuses one of a type it does not know [R018]', async () => {
    const server = scripted(LATEST, ({ method, params }, peer) => {
      const contents = [{ uri: String(params?.['uri']), text: 'read' }]
      const messages = [{ role: 'user', content: { type: 'text', text: 'said' } }]
      const { resultType: _, ...said } = spoken('plain')
      const rest = { ...said, contents, messages, tools: [], prompts: [], resources: [] }
      if (method === 'server/discover') return false
      const odd = [params?.['name'], params?.['uri'], params?.['cursor']].includes('odd:x')
      peer.reply(odd ? { ...rest, resultType: 'later' } : rest)
      return true
    })
    await using client = await connect(server)
    expect(await client.call('plain')).toBe('plain')
    expect(await client.read('a:x')).toMatchObject({ contents: [{ text: 'read' }] })
    expect(await client.prompt('plain')).toMatchObject({ messages: [{ content: { text: 'said' } }] })
    expect(await all(client.tools())).toEqual([])
    for (const odd of [
      () => client.call('odd:x'),
      () => client.read('odd:x'),
      () => client.prompt('odd:x'),
      () => client.request('tools/list', { cursor: 'odd:x' }),
      () => client.request('acme/own', { name: 'odd:x' }),
    ])
      expect(await failure(odd())).toMatchObject({
        kind: 'bad_answer',
        message: expect.stringContaining('"later"'),
      })
  })

  test('understands a missing resource under either code [R174]', async () => {
    const server = scripted(LATEST, ({ method, params }, peer) => {
      if (method !== 'resources/read') return false
      peer.refuse(-32002, 'not there', { uri: params?.['uri'] })
      return true
    })
    await using client = await connect(server)
    const error = await failure(client.read('a://b'))
    expect(error).toMatchObject({ kind: 'unknown_resource', code: -32002, data: { uri: 'a://b' } })
  })
})
