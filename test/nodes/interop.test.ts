import { afterAll, beforeAll, describe } from 'vitest'
import type { App } from 'pierhead'
import { createInteropApp } from '../interop/app.ts'
import { World } from '../interop/app-tools.ts'
import { checkAll, WAYS } from '../interop/ways.ts'
import { RoundRobin } from './proxy.ts'
import { Stores } from './store.ts'

/** Everything that the official clients can do with one server, they can do with three. */
describe('three nodes behind a proxy that sends each request to the next', () => {
  const apps: App[] = []
  let proxy: RoundRobin
  beforeAll(async () => {
    const stores = new Stores()
    const world = new World()
    const ports: number[] = []
    for (const name of ['one', 'two', 'three']) {
      const app = createInteropApp({ store: stores.view(name).driver }, world)
      apps.push(app)
      const { url } = await app.listen({ http: { port: 0, sse: true } })
      ports.push(Number(new URL(url as string).port))
    }
    proxy = await new RoundRobin(ports).listen()
  })
  afterAll(async () => {
    await proxy.close()
    await Promise.all(apps.map((app) => app.close()))
  })

  // Each of the three servers changes its own lists and tells everybody, so clients hear of it three times.
  checkAll(
    () => proxy.url,
    WAYS,
    ({ title }) => !title.startsWith('hears that lists changed'),
  )
  describe('over HTTP+SSE', () => {
    checkAll(
      () => new URL('/sse', proxy.url).href,
      WAYS.filter(({ client }) => client === 'v1'),
      ({ title }) => !title.startsWith('hears that lists changed'),
    )
  })
})
