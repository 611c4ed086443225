import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { afterEach } from 'vitest'
import type { Running } from '../../src/app/listen/listen.ts'
import type { ListenOptions } from '../../src/app/options.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import type { AnyApp } from '../harness/connection.ts'
import { testIdentity, testSocket, testTls } from '../harness/sockets.ts'
import { until } from '../hostile/peer.ts'
import { call, headed, initialize } from '../http/messages.ts'

export interface Reply {
  readonly id?: unknown
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: { readonly refusal?: { readonly code: number } }
  }
}

const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Does something when the test is over. */
export function after(end: () => unknown): void {
  ends.push(end)
}

/** Listens until the test is over. */
export async function serve(app: AnyApp, options: ListenOptions = { tcp: { port: 0 } }): Promise<Running> {
  const running = await app.listen(options)
  after(() => running.close())
  return running
}

/** The client's end of a socket, of which whatever bytes go in. */
export class Wire {
  readonly socket: Socket
  said = ''

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => void (this.said += chunk.toString('utf8')))
    after(() => socket.destroy())
  }

  async write(...pieces: readonly (string | Uint8Array)[]): Promise<void> {
    for (const piece of pieces) {
      if (!this.socket.write(piece)) await once(this.socket, 'drain')
    }
  }

  /** The messages that have come, blank lines left out, once there are so many. */
  async heard(count: number, ms = 10_000): Promise<readonly Reply[]> {
    const lines = (): readonly string[] => this.said.split('\n').filter((line) => line !== '')
    await until(() => lines().length >= count && this.said.endsWith('\n'), ms)
    return lines().map((line) => JSON.parse(line) as Reply)
  }

  /** Waits until the server sends nothing more. */
  ended(): Promise<void> {
    return until(() => this.socket.readableEnded || this.socket.destroyed, 10_000)
  }
}

/** Opens a connection to where a server listens. */
export async function dial(
  address: string | undefined,
  tls: ConnectionOptions = {},
  localAddress?: string,
): Promise<Wire> {
  const { protocol, hostname: host, port, pathname } = new URL(address ?? '')
  const halfOpen = { allowHalfOpen: true }
  if (protocol === 'tls:') {
    const ca = testIdentity().cert
    const secure = connectTls({ host, port: Number(port), ca, ...halfOpen, ...tls } as ConnectionOptions)
    const wire = new Wire(secure)
    await once(secure, 'secureConnect')
    return wire
  }
  const address_ = protocol === 'unix:' ? { path: pathname } : { host, port: Number(port) }
  const wire = new Wire(connect({ ...address_, ...halfOpen, ...(localAddress && { localAddress }) }))
  await once(wire.socket, 'connect')
  return wire
}

/** Calls the tool `echo`. */
export function echo(revision: Revision, id: number, text = 'x'): string {
  return revision === '2026-07-28'
    ? headed('tools/call', { name: 'echo', arguments: { text } }, id).body
    : call('echo', { text }, id)
}

/** Does the handshake where the revision has one. */
export async function greet(wire: Wire, revision: Revision = '2025-11-25'): Promise<Wire> {
  if (revision === '2026-07-28') return wire
  await wire.write(`${initialize(revision)}\n`)
  await wire.heard(1)
  wire.said = ''
  return wire
}

export const SOCKETS = ['tcp', 'tls', 'unix'] as const
export type SocketKind = (typeof SOCKETS)[number]

/** Every kind of socket with every revision. */
export const KINDS: readonly (readonly [SocketKind, Revision])[] = SOCKETS.flatMap((kind) =>
  REVISIONS.map((revision) => [kind, revision] as const),
)

/** Serves over one kind of socket; gives back where. */
export async function serveOver(kind: SocketKind, app: AnyApp): Promise<string> {
  if (kind === 'unix') return (await serve(app, { unix: testSocket() })).addresses.unix as string
  const tls = kind === 'tls' ? { tls: testTls() } : {}
  return (await serve(app, { tcp: { port: 0, ...tls } })).addresses.tcp as string
}
