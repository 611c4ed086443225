import { expect, test } from 'vitest'
import { TLS_OPTIONS, type TlsOptions } from '../transport/tls/options.ts'
import * as listening from './listen/options.ts'
import * as lists from './options.ts'

/** Every option of a type. A table that lacks one does not compile. */
type Names<T> = Readonly<Record<keyof T, true>>

// oxfmt-ignore
const server: Names<lists.ServerOptions> = {
  name: true, id: true, version: true, title: true, description: true, websiteUrl: true, icons: true, instructions: true,
  tools: true, transports: true, capabilities: true, experimental: true, extensions: true, secret: true, auth: true, revisions: true,
  profile: true,
  store: true, pageSize: true, ttl: true, limits: true, errors: true, log: true,
  onStart: true, onStop: true,
}
// oxfmt-ignore
const http: Names<lists.HttpOptions> = {
  port: true, host: true, path: true, hosts: true, cors: true, sessions: true, sse: true, gist: true, tls: true,
  trustProxy: true, auth: true,
}
// oxfmt-ignore
const listen: Names<lists.ListenOptions> = { stdio: true, http: true, ws: true, tcp: true, unix: true, onUncaught: true, workers: true }
const tcp: Names<lists.TcpOptions> = { port: true, host: true, tls: true, insecure: true, framing: true }
const tls: Names<TlsOptions> = { key: true, cert: true, ca: true, requestCert: true, pin: true, scopes: true }
// oxfmt-ignore
const ws: Names<lists.WsOptions> = { port: true, host: true, path: true, hosts: true, cors: true, tls: true, trustProxy: true, auth: true }
const unix: Names<lists.UnixOptions> = { path: true, mode: true, framing: true, scopes: true }
const stdio: Names<lists.StdioOptions> = { scopes: true, keys: true }
// oxfmt-ignore
const mount: Names<lists.MountOptions> = { hosts: true, cors: true, sessions: true, sse: true, gist: true, trustProxy: true, auth: true }

test.each<readonly [string, object, object]>([
  ['a server', lists.SERVER_OPTIONS, server],
  ['listen', listening.LISTEN_OPTIONS, listen],
  ['stdio', listening.STDIO_OPTIONS, stdio],
  ['HTTP', listening.HTTP_OPTIONS, http],
  ['TCP', listening.TCP_OPTIONS, tcp],
  ['TLS', TLS_OPTIONS, tls],
  ['WebSocket', listening.WS_OPTIONS, ws],
  ['a socket file', listening.UNIX_OPTIONS, unix],
  ['a mount', lists.MOUNT_OPTIONS, mount],
])('the checked options of %s are those of its type', (_, checked, names) => {
  expect(Object.keys(checked).toSorted()).toEqual(Object.keys(names).toSorted())
})
