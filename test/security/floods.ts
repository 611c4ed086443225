import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import type { Target } from '../../src/client/target.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { after } from '../hostile/peer.ts'

export type FloodWay = 'stdio' | 'tcp' | 'ws'

const SERVER = fileURLToPath(new URL('flood-server.mjs', import.meta.url))

export interface Flooded {
  readonly client: Client
  /** How many pings of the server were answered. */
  pings(): number
  /** The most of them in one turn of the event loop. */
  mostPerTurn(): number
  /** How often a timer fired. */
  ticks(): number
}

/** Connects to a server in another process that floods its client after a call of `flood`. */
export async function meetFlood(
  way: FloodWay,
  kind: string,
  { revision, ...options }: ConnectOptions & { readonly revision: Revision },
): Promise<Flooded> {
  const target = await startServer(way, [SERVER, way, revision, kind])
  const client = await connect(target, { revision, timeout: '30s', ...options })
  let pings = 0
  let before = 0
  let most = 0
  let ticks = 0
  let isOver = false
  client.use('ping', (_, next) => (pings++, next()))
  const count = (): void => {
    most = Math.max(most, pings - before)
    before = pings
    if (!isOver) setImmediate(count)
  }
  const timer = setInterval(() => ticks++, 1)
  count()
  after(() => {
    isOver = true
    clearInterval(timer)
    return client.close()
  })
  return { client, pings: () => pings, mostPerTurn: () => most, ticks: () => ticks }
}

async function startServer(way: FloodWay, args: string[]): Promise<Target> {
  if (way === 'stdio') return { command: process.execPath, args }
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  after(() => child.kill('SIGKILL'))
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return `${way}://127.0.0.1:${port}`
}
