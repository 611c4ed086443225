import { hostname } from 'node:os'
import { createHarbour } from './harbour.ts'

// One node. All nodes have the same settings in their environment, apart from NODE_NAME.
const {
  HOST = '127.0.0.1',
  HOSTS = 'localhost,127.0.0.1',
  NODE_NAME = hostname(),
  PORT = '3000',
} = process.env
const proxies = Number(process.env['TRUST_PROXY'] ?? 0)

const app = createHarbour(NODE_NAME, process.env)
const { url } = await app.listen({
  http: { port: Number(PORT), host: HOST, hosts: HOSTS.split(','), trustProxy: proxies > 0 && proxies },
})
console.log(`listening on ${url}`)
