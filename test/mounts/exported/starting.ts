import { createServer, type App } from '../../../src/index.ts'

let starts = 0

/** A server that tells how often it has started; timers and random numbers are allowed only once a request is there. */
const app: App = createServer({
  name: 'starting',
  version: '1',
  onStart: async () => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    crypto.randomUUID()
    starts++
  },
}).tool('starts', {}, () => `${starts}`)

export default app
