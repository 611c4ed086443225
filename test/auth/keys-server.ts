import process from 'node:process'
import { allowKeys, createKeys, type PinnedKey } from '../../src/auth.ts'
import { createServer, type ListenOptions } from '../../src/index.ts'

/** What the tests tell the server, as JSON in its first argument. */
export interface ServerPlan {
  /** The keys of clients, or the file that holds them. Default: no keys are asked for. */
  readonly clients?: string | readonly PinnedKey[]
  /** The file with the key pair of the server. */
  readonly own?: string
  readonly headersMs?: number
  /** Whether HTTP is open, too. */
  readonly http?: boolean
  /** Whether anna is revoked from the start. */
  readonly revoked?: boolean
}

const { clients, own, headersMs, http, revoked } = JSON.parse(process.argv[2] as string) as ServerPlan
const keys = clients && allowKeys(clients, { own: own === undefined ? undefined : createKeys(own) })
const options: ListenOptions = {
  stdio: keys ? { keys } : true,
  ...(http === true && { http: { port: 0 } }),
}

const app = createServer({
  name: 'keys',
  version: '1.0.0',
  limits: headersMs === undefined ? {} : { headersMs },
})
  .tool('who', {}, (_, { auth }) => JSON.stringify(auth ?? null))
  .tool('write', { scopes: ['write'] }, () => 'written')
  .tool('leave', {}, () => {
    void app.revoke({ sub: 'anna' })
    return 'gone'
  })
if (revoked === true) void app.revoke({ sub: 'anna' })
const { url } = await app.listen(options)
process.stderr.write(`listening ${url ?? 'to stdio'}\n`)
