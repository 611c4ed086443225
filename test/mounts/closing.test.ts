import { createServer as createHttp } from 'node:http'
import { expect, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { BOTH, initialize } from '../http/messages.ts'
import { tools } from '../http/server.ts'
import { listen } from './tour.ts'

const post = (url: string): Promise<Response> =>
  fetch(url, { method: 'POST', body: initialize(), headers: { ...BOTH } })

const asked = (): Request =>
  new Request('http://localhost/mcp', { method: 'POST', body: initialize(), headers: BOTH })

type Ask = () => Promise<Response>

/** The ways to mount a server. Each returns what asks it. */
const MOUNTS: Readonly<Record<string, (app: App) => Promise<Ask>>> = {
  'app.node()': async (app) => {
    const url = await listen(createHttp(app.node()))
    return () => post(url)
  },
  'app.node() for each request': async (app) => {
    const url = await listen(createHttp((request, response) => app.node()(request, response)))
    return () => post(url)
  },
  'app.fetch': async (app) => {
    const serve = app.fetch
    return () => serve(asked())
  },
  'app.fetch for each request': async (app) => () => app.fetch(asked()),
  'app.fetchWith() for each request': async (app) => () => app.fetchWith({ sse: true })(asked()),
}

const closedReply = async (reply: Response): Promise<unknown> => [
  reply.status,
  reply.headers.get('retry-after'),
  await reply.json(),
]
const CLOSED = [503, '5', { error: { message: 'the server is shutting down' } }]

test.each(Object.entries(MOUNTS))('%s answers 503 once the app is closed', async (_, mount) => {
  const app = tools()
  const ask = await mount(app)
  expect((await ask()).status).toBe(200)
  await app.close()
  for (let round = 0; round < 2; round++) expect(await closedReply(await ask())).toMatchObject(CLOSED)
})

test.each(Object.entries(MOUNTS))(
  '%s answers 503 once the app is closed, even if it was not used before',
  async (_, mount) => {
    const app = tools()
    const ask = await mount(app)
    await app.close()
    expect(await closedReply(await ask())).toMatchObject(CLOSED)
  },
)

test('a mount that is opening while the app closes is closed too', async () => {
  const app = tools()
  const opening = app.fetch(asked())
  await app.close()
  await opening
  expect(await closedReply(await app.fetch(asked()))).toMatchObject(CLOSED)
})

test('endpoints of plug-ins answer 503 as well', async () => {
  const app = createServer({ name: 'x', version: '1' }).use({
    endpoints: { '/own': () => new Response('x') },
  })
  const serve = app.fetchWith({})
  await app.close()
  expect((await serve(new Request('http://localhost/own'))).status).toBe(503)
})

test('an app that was closed can listen again', async () => {
  const app = tools()
  for (let round = 0; round < 2; round++) {
    const { url } = await app.listen({ http: { port: 0 } })
    expect((await post(url as string)).status).toBe(200)
    await app.close()
  }
})
