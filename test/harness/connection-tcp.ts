import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { listenerOf } from './connection-http.ts'
import type { AnyApp, Connection, ConnectionOptions } from './connection.ts'
import { testIdentity } from './sockets.ts'

/** Any message makes the sender a client, which may then send invalid messages and stays connected. This one has no effect. */
const FIRST = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}\n'

/** A connection over a socket: TCP, TLS or a Unix socket. */
export async function openTcp(
  app: AnyApp,
  transport: 'tcp' | 'tls' | 'unix',
  { receive }: ConnectionOptions,
): Promise<Connection> {
  const { addresses } = await listenerOf(app, transport === 'tls' ? 'tls' : 'sockets')
  const socket = await dial(new URL((transport === 'unix' ? addresses.unix : addresses.tcp) as string))
  socket.write(FIRST)
  let rest = ''
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) receive(line, undefined)
  })
  return {
    send: async (text) => void socket.write(`${text}\n`),
    watch: async () => undefined,
    abandon: () => false,
    async close() {
      if (socket.closed) return
      const closed = once(socket, 'close')
      socket.destroy()
      await closed
    },
  }
}

async function dial({ protocol, hostname: host, port, pathname }: URL): Promise<Socket> {
  if (protocol === 'tls:') {
    const secure = connectTls({ host, port: Number(port), ca: testIdentity().cert })
    await once(secure, 'secureConnect')
    return secure
  }
  const socket = protocol === 'unix:' ? connect(pathname) : connect({ host, port: Number(port) })
  await once(socket, 'connect')
  return socket
}
