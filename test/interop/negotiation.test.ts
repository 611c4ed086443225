import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Running } from 'pierhead'
import { createInteropApp } from './app.ts'
import { failure } from './check.ts'
import { textOf } from './checks-running.ts'
import { Network } from './network.ts'
import { ABOUT, SERVER_COMMAND, Wire, type Json } from './peer.ts'
import { ProbedInPlace } from './v2.ts'
import { connect } from './ways.ts'

describe('an official client that finds out which revisions the server has', () => {
  let running: Running
  beforeEach(async () => {
    running = await createInteropApp().listen({ http: { port: 0 } })
  })
  afterEach(() => running.close())

  const transports: readonly [string, () => Transport][] = [
    ['stdio', () => new StdioClientTransport(SERVER_COMMAND)],
    ['HTTP', () => new StreamableHTTPClientTransport(new URL(running.url as string))],
  ]

  const inPlace: readonly [string, () => Transport][] = [
    ['stdio', () => new ProbedInPlace(SERVER_COMMAND)],
    ['HTTP', () => new StreamableHTTPClientTransport(new URL(running.url as string))],
  ]

  test.each(transports)('takes the newest over %s [R048]', async (_, open) => {
    const client = new Client(ABOUT, { versionNegotiation: { mode: 'auto' } })
    await client.connect(open())
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    expect(client.getServerVersion()).toMatchObject({ name: 'interop', version: '1.2.3' })
    expect(client.getDiscoverResult()).toMatchObject({
      supportedVersions: ['2026-07-28'],
      instructions: 'Call echo first.',
    })
    const result = (await client.callTool({ name: 'echo', arguments: { text: 'found' } })) as Json
    expect(textOf(result)).toBe('found')
    await client.close()
  })

  test.each(inPlace)(
    'is told over %s that the revision it insists on is not there [R046] [R123]',
    async (_, open) => {
      const client = new Client(ABOUT, { versionNegotiation: { mode: { pin: '2027-01-01' } } })
      const wire = new Wire()
      const transport = open()
      wire.tapReceive(transport)
      await failure(client.connect(transport))
      expect(wire.received).toMatchObject([
        { error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2027-01-01' } } },
      ])
    },
  )

  test.each(transports)(
    'is told over %s which capability a tool needs [R051] [R205] [R222]',
    async (_, open) => {
      const client = new Client(ABOUT, {
        versionNegotiation: { mode: { pin: '2026-07-28' } },
        capabilities: { sampling: {} },
      })
      await client.connect(open())
      for (const [name, requiredCapabilities] of [
        ['plan', { sampling: { tools: {} } }],
        ['pay', { elicitation: { url: {} } }],
        ['folders', { roots: {} }],
      ] as const) {
        const refused = await failure(client.callTool({ name, arguments: {} }))
        expect(refused).toMatchObject({ code: -32021, data: { requiredCapabilities } })
      }
      await client.close()
    },
  )

  test.each(transports)('listens for changes of lists over %s by itself', async (_, open) => {
    const seen: boolean[] = []
    let changed: () => void = () => undefined
    const told = new Promise<void>((resolve) => (changed = resolve))
    const client = new Client(ABOUT, {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      listChanged: {
        tools: {
          debounceMs: 0,
          onChanged: (error, tools) => {
            expect(error).toBeNull()
            seen.push(tools?.some(({ name }) => name === 'extra') === true)
            changed()
          },
        },
      },
    })
    await client.connect(open())
    expect(client.autoOpenedSubscription?.honoredFilter).toEqual({ toolsListChanged: true })
    await client.callTool({ name: 'grow', arguments: {} })
    await told
    expect(seen).toEqual([true])
    await client.close()
  })

  test('learns that the server ended a listening stream on purpose [R230]', async () => {
    const client = new Client(ABOUT, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url as string)))
    const stream = await client.listen({ resourceSubscriptions: ['note://hello', 'note://nowhere'] })
    expect(stream.honoredFilter).toEqual({ resourceSubscriptions: ['note://hello'] })
    await running.close()
    expect(await stream.closed).toBe('graceful')
    await client.close()
  })

  test('repeats arguments in headers, whatever characters they have [R116]', async () => {
    const client = new Client(ABOUT, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url as string)))
    await client.listTools()
    for (const region of ['eu-west', 'Zürich 🏔', ' spaced ', '=?base64?eA==?=']) {
      const result = (await client.callTool({ name: 'locate', arguments: { region } })) as Json
      const { said, header } = JSON.parse(textOf(result)) as { said: string; header: string }
      expect(said).toBe(region)
      expect(typeof header).toBe('string')
    }
    await client.close()
  })
})

describe.each(['v1', 'v2'] as const)('official %s client without a session', (client) => {
  test.each(['2025-03-26', '2025-06-18', '2025-11-25'] as const)(
    'calls and lists at %s [R079]',
    async (revision) => {
      const running = await createInteropApp().listen({ http: { port: 0, sessions: false } })
      const network = new Network()
      const peer = await connect({ client, revision, url: running.url as string, fetch: network.fetch })
      expect(peer.sessionId()).toBeUndefined()
      expect(await network.until('GET')).toMatchObject({ status: 405 })
      expect(textOf(await peer.call('echo', { text: 'alone' }))).toBe('alone')
      expect((await peer.page('prompts')).items).toHaveLength(4)
      const heard: Json[] = []
      await peer.call('let-go', { name: 'n' })
      await peer.call('count', { name: 'n', to: 2 }, { onprogress: (progress) => heard.push(progress) })
      expect(heard.map(({ progress }) => progress)).toEqual([1, 2])
      expect(peer.errors).toEqual([])
      await peer.close()
      await running.close()
    },
  )
})
