import { expect, test } from 'vitest'
import { findIssuer } from '../../src/auth/client/issuer.ts'
import { findResource } from '../../src/auth/client/resource.ts'
import { connect } from '../../src/client.ts'
import { processorMs } from '../harness/processor.ts'
import { endOf, web } from './peer.ts'

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
