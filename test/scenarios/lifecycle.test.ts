import { expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { official } from '../../src/profiles.ts'
import { META } from '../../src/protocol/meta.ts'
import { open } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const info = {
  name: 'harbour',
  version: '4.5.6',
  title: 'Harbour',
  description: 'Ships and berths',
  websiteUrl: 'https://harbour.example/',
  icons: [{ src: 'https://harbour.example/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
}

const server = createServer({ ...info, instructions: 'Ask for berths first.' })
  .tool('berths', {}, () => 'three')
  .resource('ships://list', { name: 'ships' }, () => 'Anna')
  .prompt('greet', {}, () => 'Ahoy')

scenario(
  'the handshake repeats the version and names the server, its capabilities and its instructions [R031] [R032] [R038] [R039] [S0-0.1] [S0-1.1] [S0-1.3] [S0-1.5] [S2-2.5-4] [S3-6-1] [S3-6-2] [S3-9-1] [S3-9-2] [S4-5-6] [S1-1.1-2] [S0-6.1] [S3-4.1-2]',
  server,
  async (client, revision) => {
    const { name, version, title, ...rest } = info
    const shown = revision >= '2025-06-18' ? { name, version, title } : { name, version }
    expect(client.opening).toEqual({
      protocolVersion: revision,
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
      },
      serverInfo: revision >= '2025-11-25' ? { ...shown, ...rest } : shown,
      instructions: 'Ask for berths first.',
    })
  },
  { until: '2025-11-25', profiles: false },
)

scenario(
  'a server that says no more than its name and version sends no optional fields [S0-1.3] [S0-1.5]',
  createServer({ name: 'plain', version: '0.1' }),
  async (client, revision) => {
    expect(client.opening).toEqual({
      protocolVersion: revision,
      capabilities: { logging: {} },
      serverInfo: { name: 'plain', version: '0.1' },
    })
  },
  { until: '2025-11-25', profiles: false },
)

scenario(
  'discovery lists what can be claimed and what is offered, and names the server [R048] [R049] [R017] [S3-6-1]',
  server,
  async (client) => {
    expect(await client.request('server/discover')).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
      },
      instructions: 'Ask for berths first.',
      ttlMs: 0,
      cacheScope: 'public',
      _meta: { [META.serverInfo]: info },
    })
  },
  { since: '2026-07-28' },
)

const whole = createServer(info)
  .tool('berths', {}, () => 'three')
  .resource('ships://list', { name: 'ships' }, () => 'Anna')
  .prompt('greet', { args: { type: 'object', properties: { who: { type: 'string' } } } }, () => 'Ahoy')
  .complete('greet', 'who', () => ['Anna'])

scenario(
  'only 2026-07-28 results say their type and name the server [R017] [R049]',
  whole,
  async (client, revision) => {
    const requests = [
      ['tools/list', undefined],
      ['tools/call', { name: 'berths' }],
      ['resources/list', undefined],
      ['resources/templates/list', undefined],
      ['resources/read', { uri: 'ships://list' }],
      ['prompts/list', undefined],
      ['prompts/get', { name: 'greet' }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: '' } },
      ],
    ] as const
    for (const [method, params] of requests) {
      const result = await client.request(method, params)
      const added = { resultType: result['resultType'], _meta: result['_meta'] }
      expect(added).toEqual(
        revision === '2026-07-28'
          ? { resultType: 'complete', _meta: { [META.serverInfo]: info } }
          : { resultType: undefined, _meta: undefined },
      )
    }
  },
)

scenario(
  'an unknown version is answered with the newest that has a handshake [R032] [R033] [S3-6-2] [S4-5-6] [S0-1.1] [S3-9-2] [S2-2.5-1]',
  server,
  async (client, _revision, { join }) => {
    const wishes = ['1999-01-01', '2026-07-28', '2099-12-31', '', '2025-11-25 ']
    const clients = [client, ...(await Promise.all(wishes.slice(1).map(() => join())))]
    for (const [at, protocolVersion] of wishes.entries()) {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } }
      const result = await clients[at]!.request('initialize', params)
      expect(result['protocolVersion']).toBe('2025-11-25')
    }
  },
  { only: ['2025-11-25'], handshake: false },
)

scenario(
  'an opening that cannot be read is refused and says what is missing [R012] [S3-9-7]',
  server,
  async (client, _revision, { join }) => {
    const whole = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    const wrong = [
      [{ ...whole, protocolVersion: 5 }, 'protocolVersion is not a string'],
      [{ ...whole, protocolVersion: undefined }, 'protocolVersion is not a string'],
      [{ ...whole, capabilities: [] }, 'capabilities is not an object'],
      [{ ...whole, clientInfo: { name: 'x' } }, 'clientInfo needs a name and a version'],
    ] as const
    for (const [params, reason] of wrong) {
      const error = await refusal((await join()).request('initialize', params))
      expect([error.code, error.message]).toEqual([-32602, `invalid params for initialize: ${reason}`])
    }
    await client.request('initialize', whole)
  },
  { only: ['2025-11-25'], handshake: false },
)

scenario(
  'a version that is no string is told what is supported and what was asked [S3-6-3]',
  server,
  async (client) => {
    const error = await refusal(
      client.request('initialize', { protocolVersion: 7, capabilities: {}, clientInfo: {} }),
    )
    expect(error.code).toBe(-32602)
    expect(error.data).toMatchObject({
      supported: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'],
      requested: 7,
    })
  },
  { only: ['2025-11-25'], handshake: false },
)

scenario(
  'a version that is not even a word is not repeated in the error',
  server,
  async (client) => {
    for (const protocolVersion of [{ long: 'x'.repeat(10_000) }, ['x'.repeat(10_000)]]) {
      const error = await refusal(
        client.request('initialize', { protocolVersion, capabilities: {}, clientInfo: {} }),
      )
      expect([error.code, error.data]).toMatchObject([-32602, { requested: null }])
    }
  },
  { only: ['2025-11-25'], handshake: false },
)

scenario(
  'a server that rejects versions says what is supported and what was asked [S3-6-3]',
  createServer({ name: 'strict', version: '1', profile: official.with({ versionMismatch: 'reject' }) }),
  async (client) => {
    const opening = { protocolVersion: '1999-01-01', capabilities: {}, clientInfo: client.clientInfo }
    const error = await refusal(client.request('initialize', opening))
    expect(error.code).toBe(-32602)
    expect(error.data).toMatchObject({
      supported: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'],
      requested: '1999-01-01',
    })
  },
  { only: ['2025-11-25'], handshake: false, profiles: false },
)

scenario(
  'a second initialize is refused and changes nothing [R039] [S4-1-9] [S2-2.1-4]',
  server,
  async (client, revision) => {
    const params = {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    }
    const error = await refusal(client.request('initialize', params))
    expect([error.code, error.message]).toEqual([-32600, 'this session is already initialized'])
    const { tools } = await client.get('tools/list')
    expect(tools).toHaveLength(1)
    expect(client.opening['protocolVersion']).toBe(revision)
  },
  { until: '2025-11-25' },
)

scenario(
  'nothing is served before initialize, everything as soon as it is answered [S2-2.1-1] [S2-2.1-2] [S3-4.3-1] [S2-13-S1] [S4-1-9]',
  server,
  async (client, revision) => {
    for (const method of ['tools/list', 'tools/call', 'resources/read', 'prompts/get', 'no/such']) {
      expect((await refusal(client.request(method))).code).toBe(-32600)
    }
    const clientInfo = { name: 'x', version: '1' }
    await client.request('initialize', { protocolVersion: revision, capabilities: {}, clientInfo })
    expect(await client.call('berths')).toEqual({
      content: [{ type: 'text', text: 'three' }],
      isError: false,
    })
    expect(await client.get('resources/read', { uri: 'ships://list' })).toEqual({
      contents: [{ uri: 'ships://list', text: 'Anna' }],
    })
    expect(await client.get('prompts/get', { name: 'greet' })).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'Ahoy' } }],
    })
  },
  { until: '2025-11-25', handshake: false },
)

test('a ping is served before initialize, and the refusal of the rest says what to do [S2-2.1-2] [R040] [S2-2.1-3]', async () => {
  const client = await open(server, { transport: 'memory', revision: '2025-11-25', handshake: false })
  expect(await client.request('ping')).toEqual({})
  const error = await refusal(client.request('tools/list'))
  expect([error.code, error.message]).toEqual([-32600, 'tools/list arrived before initialize'])
  expect(error.data).toEqual({
    refusal: {
      code: 1076,
      name: 'SERVER_UNINITIALIZED',
      httpStatus: 503,
      severity: 'error',
      retryable: true,
    },
  })
  await client.close()
})

scenario(
  'initialized is taken in silence, and so is any other notification, known or not [R008] [S0-2.4] [S3-4.2-1] [S2-3.6-1] [S2-1.4-1] [S2-1.1-3]',
  server,
  async (client) => {
    const before = client.transcript.filter(({ from }) => from === 'server').length
    await client.notify('notifications/initialized')
    await client.put('{"jsonrpc":"2.0","method":"notifications/of/no/kind","params":{"a":1}}')
    await client.put('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"berths"}}')
    await client.put('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}')
    await client.settle()
    expect(client.transcript.filter(({ from }) => from === 'server')).toHaveLength(before + 1)
  },
  { until: '2025-11-25' },
)

scenario(
  'ping is answered with an empty result, also while a tool runs [R040] [S4-14-1]',
  () => {
    const app = createServer({ name: 'slow', version: '1' })
    return app.tool('wait', {}, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
  },
  async (client) => {
    const stop = new AbortController()
    const waiting = client.request('tools/call', { name: 'wait' }, { signal: stop.signal })
    waiting.catch(() => undefined)
    expect(await client.request('ping')).toEqual({})
    stop.abort()
    await expect(waiting).rejects.toThrow('aborted')
  },
  { until: '2025-11-25' },
)

scenario(
  'changes before initialized are announced after it [R037] [S3-4.3-1]',
  () => createServer({ name: 'early', version: '1' }).tool('one', {}, () => 1),
  async (client, revision, { app }) => {
    const clientInfo = { name: 'x', version: '1' }
    await client.request('initialize', { protocolVersion: revision, capabilities: {}, clientInfo })
    await client.follow({})
    app.tool('two', {}, () => 2)
    app.tool('three', {}, () => 3)
    await client.settle()
    expect(client.notices).toEqual([])
    await client.notify('notifications/initialized')
    await client.hear('notifications/tools/list_changed')
    expect(client.notices.map(({ method }) => method)).toEqual(['notifications/tools/list_changed'])
  },
  { until: '2025-11-25', handshake: false },
)

scenario(
  'a connection serves nothing at first, sends nothing of its own until the client is ready, works, and begins anew after it was closed [S2-2.1-1]',
  () => createServer({ name: 'states', version: '1' }).tool('one', {}, () => 1),
  async (client, revision, { app, join }) => {
    const clientInfo = { name: 'x', version: '1' }
    expect((await refusal(client.request('tools/list'))).code).toBe(-32600)
    await client.request('initialize', { protocolVersion: revision, capabilities: {}, clientInfo })
    await client.follow({})
    app.tool('two', {}, () => 2)
    await client.settle()
    expect(client.notices).toEqual([])
    await client.notify('notifications/initialized')
    await client.hear('notifications/tools/list_changed')
    expect((await client.get('tools/list'))['tools']).toHaveLength(2)
    await client.close()
    app.tool('three', {}, () => 3)
    const next = await join()
    expect((await refusal(next.request('tools/list'))).code).toBe(-32600)
    expect(client.notices).toHaveLength(1)
  },
  { until: '2025-11-25', handshake: false },
)

scenario(
  'news of a watched resource waits until the client is ready, a question within its own call does not [R037]',
  () =>
    createServer({ name: 'early', version: '1' })
      .resource('a://b', {}, () => 'x')
      .tool('ask', {}, async (_, { roots }) => JSON.stringify(await roots())),
  async (client, revision, { app }) => {
    const opening = { protocolVersion: revision, capabilities: { roots: {} }, clientInfo: client.clientInfo }
    await client.request('initialize', opening)
    await client.follow({ uris: ['a://b'] })
    client.answer('roots/list', () => ({ roots: [{ uri: 'file:///a' }] }))
    app.updated('a://b')
    app.updated('a://b')
    expect((await client.call('ask'))['content']).toEqual([{ type: 'text', text: '[{"uri":"file:///a"}]' }])
    expect(client.notices).toEqual([])
    await client.notify('notifications/initialized')
    await client.hear('notifications/resources/updated')
    expect(client.notices).toHaveLength(1)
  },
  { until: '2025-11-25', handshake: false },
)

scenario(
  'a request that lacks part of its metadata is refused and told which [R044] [S3-9-7]',
  server,
  async (client) => {
    const params = (meta: object): string =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } })
    const refused = async (meta: object): Promise<unknown> => {
      const { error } = (await client.post(params(meta))) as { error: { code: number; message: string } }
      return [error.code, error.message]
    }
    const claim = 'params._meta is not a 2026-07-28 envelope'
    const version = { [META.protocolVersion]: '2026-07-28' }
    const capabilities = { [META.clientCapabilities]: {} }
    expect(await refused(version)).toEqual([-32602, `${claim}: ${META.clientCapabilities} is missing`])
    expect(await refused({ ...version, [META.clientCapabilities]: [] })).toEqual([
      -32602,
      `${claim}: ${META.clientCapabilities} is missing`,
    ])
    expect(await refused(capabilities)).toEqual([
      -32602,
      expect.stringContaining(`${claim}: ${META.protocolVersion}`),
    ])
    expect(await refused({ ...version, ...capabilities, [META.clientInfo]: { name: 'x' } })).toEqual([
      -32602,
      `${claim}: ${META.clientInfo} needs a name and a version`,
    ])
  },
  { since: '2026-07-28' },
)

scenario(
  'a request without the name of its client is served [R045]',
  () =>
    createServer({ name: 'who', version: '1' }).tool('who', {}, (_, { client }) =>
      JSON.stringify(client.info ?? null),
    ),
  async (client) => {
    const meta = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: {} }
    const params = { name: 'who', _meta: meta }
    const reply = await client.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
    expect(reply).toMatchObject({ id: 1, result: { content: [{ type: 'text', text: 'null' }] } })
  },
  { since: '2026-07-28' },
)

scenario(
  'an unsupported version is refused with what is supported and what was asked [R046]',
  server,
  async (client) => {
    const error = await refusal(
      client.request('tools/list', {}, { meta: { [META.protocolVersion]: 'v999.0.0' } }),
    )
    expect([error.code, error.message]).toEqual([-32022, 'protocol version v999.0.0 is not supported'])
    expect(error.data).toMatchObject({ supported: ['2026-07-28'], requested: 'v999.0.0' })
  },
  { since: '2026-07-28' },
)

scenario(
  'methods that the revision removed or does not have yet are unknown [R053] [R011] [R038] [R039] [S3-9-6] [S3-3-1] [S2-2.5-4]',
  server,
  async (client, revision) => {
    const removed = ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']
    const absent = ['server/discover', 'subscriptions/listen']
    const unknown = [
      'no/such',
      'toString',
      '__proto__',
      'constructor',
      'tools/List',
      'sampling/createMessage',
      'roots/list',
    ]
    for (const method of [...(revision === '2026-07-28' ? removed : absent), ...unknown]) {
      const error = await refusal(client.request(method, {}))
      expect([error.code, error.message]).toEqual([
        -32601,
        `the method "${method}" does not exist at ${revision}`,
      ])
    }
  },
)

test.each(['memory', 'stdio'] as const)(
  'a server of 2026-07-28 alone names its versions when it refuses a handshake: %s [R052]',
  async (transport) => {
    const app = createServer({ name: 'new', version: '1', revisions: ['2026-07-28'] })
    const client = await open(app, { transport, revision: '2026-07-28' })
    for (const protocolVersion of ['2025-11-25', '2024-11-05', '2026-07-28']) {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } }
      const text = JSON.stringify({ jsonrpc: '2.0', id: 'i', method: 'initialize', params })
      expect(await client.post(text)).toMatchObject({
        id: 'i',
        error: { code: -32022, data: { supported: ['2026-07-28'], requested: protocolVersion } },
      })
    }
    await client.settle()
    await client.close()
  },
)

scenario(
  'nothing is taken over from an earlier request [R050]',
  () =>
    createServer({ name: 'forgetful', version: '1' }).tool('know', {}, (_, { client, session }) =>
      JSON.stringify([client.info, client.capabilities, session === undefined]),
    ),
  async (client) => {
    const first = await client.call('know', {}, { capabilities: { sampling: {}, roots: {} } })
    const second = await client.call(
      'know',
      {},
      { capabilities: {}, meta: { [META.clientInfo]: { name: 'other', version: '9' } } },
    )
    expect(first['content']).toEqual([
      { type: 'text', text: JSON.stringify([client.clientInfo, { sampling: {}, roots: {} }, true]) },
    ])
    expect(second['content']).toEqual([
      { type: 'text', text: JSON.stringify([{ name: 'other', version: '9' }, {}, true]) },
    ])
  },
  { since: '2026-07-28' },
)

scenario(
  'the context tells who calls, whatever the revision, and keeps capabilities it does not know [S2-9.1-3] [S4-5-8]',
  () =>
    createServer({ name: 'who', version: '1' }).tool('who', {}, (_, { client, revision, method }) => ({
      info: client.info,
      capabilities: client.capabilities,
      revision,
      method,
      roots: client.supports('roots'),
      sampling: client.supports('sampling'),
    })),
  async (client, revision) => {
    const { content } = await client.call('who')
    expect(JSON.parse((content as { text: string }[])[0]!.text)).toEqual({
      info: { name: 'scenario', version: '1.2.3' },
      capabilities: { roots: {}, experimental: { 'x.y/z': { deep: [1] } }, teleport: { far: true } },
      revision,
      method: 'tools/call',
      roots: true,
      sampling: false,
    })
  },
  { capabilities: { roots: {}, experimental: { 'x.y/z': { deep: [1] } }, teleport: { far: true } } },
)

scenario(
  'closing the connection is all it takes to end, without a message [S3-4.4-1]',
  server,
  async (client, _revision, { join }) => {
    const other = await join()
    await other.request('tools/list')
    const before = other.transcript.length
    await other.close()
    expect(other.transcript).toHaveLength(before)
    await client.settle()
  },
)
