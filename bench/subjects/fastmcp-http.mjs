import { once } from 'node:events'
import { createServer } from 'node:net'
import { server } from './fastmcp-server.mjs'
import { announce } from './listening.mjs'
import { options } from './options.mjs'

const port = await freePort()
// A body is cheaper than a stream, but has no room for progress.
const httpStream = { host: '127.0.0.1', port, enableJsonResponse: !options.progress }
await server.start({ transportType: 'httpStream', httpStream })
announce(port)

/** The library does not tell which port it was given. */
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port: free } = probe.address()
  probe.close()
  await once(probe, 'close')
  return free
}
