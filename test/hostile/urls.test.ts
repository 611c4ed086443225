import { expect, test } from 'vitest'
import { findIssuer } from '../../src/auth/client/issuer.ts'
import { findResource } from '../../src/auth/client/resource.ts'
import { connect } from '../../src/client.ts'
import { processorMs } from '../harness/processor.ts'
import { behave, endOf, failure, meet, web } from './peer.ts'

/** Milliseconds of processor time; without a limit, each of these takes several times as long. */
const MOST_MS = 1500

/** A host whose parts take the longest to parse, as long as it may be in a document about logins. */
const HOST = Array.from({ length: 80_000 }, (_, at) => String.fromCodePoint(0x4e00 + (at % 20_000))).join('')
const URL_OF_HOST = `https://${HOST}.example`

const json =
  (document: object): typeof globalThis.fetch =>
  () =>
    Promise.resolve(Response.json(document))
const step = (): void => undefined

const DOCUMENTS: readonly (readonly [member: string, read: () => Promise<unknown>])[] = [
  [
    'the resource of a server',
    () =>
      findResource({
        server: new URL('https://a.example/mcp'),
        metadataUrl: undefined,
        fetch: json({ resource: URL_OF_HOST }),
        step,
      }),
  ],
  [
    'the address of its metadata',
    () =>
      findResource({
        server: new URL('https://a.example/mcp'),
        metadataUrl: URL_OF_HOST,
        fetch: json({}),
        step,
      }),
  ],
  ...['issuer', 'authorization_endpoint', 'token_endpoint', 'registration_endpoint'].map(
    (member): readonly [string, () => Promise<unknown>] => [
      `the ${member} of an issuer`,
      () => {
        const issuer = 'https://issuer.example'
        const token_endpoint = `${issuer}/token`
        const fetch = json({ issuer, token_endpoint, [member]: URL_OF_HOST })
        return findIssuer({ issuer, isLegacy: false, fetch, step, allowsHttp: false })
      },
    ],
  ),
]

test.each(DOCUMENTS)('C.url-host a long host in %s does not block the client', async (_, read) => {
  let problem: unknown
  const ms = await processorMs(async () => void (problem = await read().catch((error: unknown) => error)))
  expect(problem).toBeInstanceOf(Error)
  expect(ms).toBeLessThan(MOST_MS)
})

test('C.url-host a long host in the endpoint of an event stream does not block the client', async () => {
  const { url } = await web(({ verb }, response) => {
    if (verb !== 'GET') return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.write(`event: endpoint\ndata: ${URL_OF_HOST}\n\n`)
  })
  let end = ''
  const ms = await processorMs(async () => void (end = await endOf(connect(url, { timeout: '10s' }))))
  expect(end).toBe('connect_failed')
  expect(ms).toBeLessThan(MOST_MS)
})

/** Short hosts, each of which takes the longest to parse. */
const elicitations = Array.from({ length: 6000 }, (_, seed) => {
  const letters = Array.from({ length: 160 }, (_, at) =>
    String.fromCodePoint(0xac00 + ((at * 403 + seed) % 11_000)),
  )
  return { url: `http://${'\u3316'.repeat(140)}${letters.join('')}/` }
})
const error = { code: -32042, message: 'open', data: { elicitations } }
const task = { taskId: 'a', createdAt: '', lastUpdatedAt: '', ttlMs: null }

test.each(['a call', 'a task'])(
  'C.url-host many URLs to open in the error of %s do not block the client',
  async (what) => {
    const { client } = await meet('memory', (asked, wire) => {
      const { id, method } = asked
      if (method === 'server/discover')
        return wire.reply({
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
        })
      if (method === 'tasks/get') return wire.reply({ ...task, status: 'failed', error })
      if (method !== 'tools/call') return behave('2026-07-28', asked, wire)
      return what === 'a call'
        ? wire.send({ jsonrpc: '2.0', id, error })
        : wire.reply({ ...task, status: 'working', resultType: 'task' })
    })
    let problem: unknown
    const ms = await processorMs(async () => void (problem = await failure(client.call('t'))))
    expect(problem).toMatchObject({ kind: 'url_needed' })
    expect(ms).toBeLessThan(MOST_MS)
  },
)
