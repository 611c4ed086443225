import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import { WebSocket, WebSocketServer } from 'ws'
import type { App } from '../../src/index.ts'
import { serviceOf } from '../../src/app/app.ts'
import { serveStdio } from '../../src/transport/stdio/server.ts'
import { urlDoor, type Door } from '../../src/validate/door.ts'
import type { Transport } from '../../src/validate/rule.ts'
import { LineWire } from '../../src/validate/wire-lines.ts'
import type { Fault } from './fault.ts'
import { faultyHttp } from './faulty-http.ts'
import { FaultyMessages } from './faulty-messages.ts'

/** A correct server on every transport, and what belongs to it. */
export interface Served {
  readonly app: App
  readonly addresses: Readonly<Record<'http' | 'sse' | 'ws' | 'tcp', URL>>
  close(): Promise<void>
}

/** Serves an app on every transport, on free ports of this machine. */
export async function serveEverywhere(app: App): Promise<Served> {
  const running = await app.listen({
    http: { port: 0, host: '127.0.0.1', path: '/mcp', sse: true, gist: true },
    ws: true,
    tcp: { port: 0, host: '127.0.0.1' },
  })
  const http = new URL(running.url as string)
  return {
    app,
    addresses: {
      http,
      sse: new URL('/sse', http),
      ws: new URL(running.addresses.ws as string),
      tcp: new URL(running.addresses.tcp as string),
    },
    close: () => running.close(),
  }
}

/** A way to the server through a fault; without one, a way to the correct server by the same means. */
export async function faultyDoor(
  { app, addresses }: Served,
  transport: Transport,
  fault: Fault | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly door: Door; close(): Promise<void> }> {
  switch (transport) {
    case 'http':
    case 'sse': {
      const server = await faultyHttp(addresses[transport], fault)
      return {
        door: urlDoor(server.url, headers, { isOlder: transport === 'sse' }),
        close: () => server.close(),
      }
    }
    case 'ws':
      return faultyWs(addresses.ws, fault)
    case 'tcp':
      return faultyTcp(addresses.tcp, fault)
    case 'stdio':
      return { door: faultyStdio(app, fault), close: async () => undefined }
  }
}

/** Stdio over streams of this process. Real programs are tested elsewhere. */
function faultyStdio(app: App, fault: Fault | undefined): Door {
  return {
    transport: 'stdio',
    async open(trace) {
      const [toServer, fromServer, fromClient, toClient] = [
        new PassThrough(),
        new PassThrough(),
        new PassThrough(),
        new PassThrough(),
      ]
      const server = serveStdio(serviceOf(app), { limits: app.limits, input: toServer, output: fromServer })
      join({ fromClient, toClient, fromServer, toServer }, fault)
      if (fault?.stays !== true) void server.closed.then(() => toClient.end())
      return new LineWire(
        'stdio',
        { input: toClient, output: fromClient },
        async () => {
          toServer.end()
          await server.closed
          toClient.end()
        },
        trace,
      )
    },
  }
}

async function faultyTcp(
  target: URL,
  fault: Fault | undefined,
): Promise<{ readonly door: Door; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.end())
    join({ fromClient: client, toClient: client, fromServer: upstream, toServer: upstream }, fault)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    door: urlDoor(new URL(`tcp://127.0.0.1:${port}`), {}),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

interface Ends {
  readonly fromClient: NodeJS.ReadableStream
  readonly toClient: NodeJS.WritableStream
  readonly fromServer: NodeJS.ReadableStream
  readonly toServer: NodeJS.WritableStream
}

/** Passes lines on in both directions, with a fault. */
function join({ fromClient, toClient, fromServer, toServer }: Ends, fault: Fault | undefined): void {
  const messages = new FaultyMessages(fault)
  createInterface({ input: fromClient, crlfDelay: Infinity }).on('line', (line) => {
    const instead = messages.fromClient(line)
    if (instead === undefined) toServer.write(`${line}\n`)
    else for (const text of instead) toClient.write(`${text}\n`)
  })
  fromClient.on('end', () => toServer.end())
  createInterface({ input: fromServer, crlfDelay: Infinity }).on('line', (line) => {
    for (const text of messages.fromServer(line)) toClient.write(`${text}\n`)
  })
}

/** Whether the correct server accepts a handshake that names a stranger. */
async function isWelcome(
  target: URL,
  { origin, host, fault }: { origin: string | undefined; host: string; fault: Fault | undefined },
): Promise<boolean> {
  const isForeign = !host.startsWith('127.0.0.1:')
  if ((origin === undefined && !isForeign) || fault?.welcomes?.(origin, host) === true) return true
  const probe = new WebSocket(target, ['mcp'], {
    headers: { ...(origin !== undefined && { origin }), ...(isForeign && { host }) },
  })
  const isOpen = await new Promise<boolean>((resolve) => {
    probe.on('open', () => resolve(true))
    probe.on('error', () => resolve(false))
  })
  probe.terminate()
  return isOpen
}

async function faultyWs(
  target: URL,
  fault: Fault | undefined,
): Promise<{ readonly door: Door; close(): Promise<void> }> {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    handleProtocols: () => 'mcp',
    verifyClient: ({ origin, req }: { origin: string | undefined; req: IncomingMessage }, done) =>
      void isWelcome(target, { origin, host: req.headers.host ?? '', fault }).then((is) => done(is, 403)),
  })
  await once(server, 'listening')
  server.on('connection', (client) => {
    const messages = new FaultyMessages(fault)
    const upstream = new WebSocket(target, ['mcp'])
    const waiting: string[] = []
    upstream.on('open', () => {
      for (const text of waiting.splice(0)) upstream.send(text)
    })
    upstream.on('error', () => client.terminate())
    upstream.on('message', (data: Buffer) => {
      for (const text of messages.fromServer(data.toString('utf8'))) client.send(text)
    })
    upstream.on('close', () => client.close())
    client.on('error', () => undefined)
    client.on('message', (data: Buffer) => {
      const text = data.toString('utf8')
      const instead = messages.fromClient(text)
      if (instead !== undefined) for (const one of instead) client.send(one)
      else if (upstream.readyState === WebSocket.OPEN) upstream.send(text)
      else waiting.push(text)
    })
    client.on('close', () => upstream.close())
  })
  const { port } = server.address() as AddressInfo
  return {
    door: urlDoor(new URL(`ws://127.0.0.1:${port}/mcp`), {}),
    async close() {
      for (const client of server.clients) client.terminate()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
