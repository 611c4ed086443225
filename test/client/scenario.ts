import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import type { Running } from 'pierhead'
import { connect, type Client } from '../../src/client.ts'
import type { ConnectOptions } from '../../src/app/connect/connect.ts'
import type { Target } from '../../src/client/target.ts'
import { LATEST, REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { testIdentity, testSocket, testTls } from '../harness/sockets.ts'
import { bundle } from '../harness/bundle.ts'
import { createEverything } from './app.ts'
import { judge, tap, type Tap } from './tap.ts'
import { TRANSPORTS, type Transport } from './transports.ts'

export interface ScenarioOptions {
  /** First and last revision that has what is shown. */
  readonly since?: Revision
  readonly until?: Revision
  readonly on?: readonly Transport[]
}

/** What a scenario has besides its client. */
export interface Stage {
  readonly revision: Revision
  readonly transport: Transport
  readonly target: Target
  /** Connects another client to the same server; on a pipe, to a server of its own. */
  join(options?: ConnectOptions): Promise<Client>
}

type Run = (client: Client, stage: Stage) => Promise<void>

/** One behaviour of the client, stated once and tested over every transport and every revision that has it. */
export function scenario(title: string, run: Run, options: ScenarioOptions = {}): void {
  const { since = REVISIONS[0], until = REVISIONS.at(-1) as Revision, on = TRANSPORTS } = options
  const [, words = title, ids = ''] = /^(.*?)((?: \[[A-Z0-9.-]+\])*)$/i.exec(title) ?? []
  for (const revision of REVISIONS.filter((one) => one >= since && one <= until)) {
    for (const transport of on.filter((one) => one !== 'sse' || revision !== LATEST))
      test(`${words} · ${transport} ${revision}${ids}`, () => assertScenario(run, transport, revision))
  }
}

async function assertScenario(run: Run, transport: Transport, revision: Revision): Promise<void> {
  const joined: Client[] = []
  const { target, client } = await meet(transport, revision)
  const join: Stage['join'] = async (options = {}) => {
    const another = await connect(target, { revision, ...trust(transport), ...options })
    joined.push(another)
    return another
  }
  try {
    await run(client, { revision, transport, target, join })
  } finally {
    for (const another of joined) await another.close()
    if (transport === 'memory') await client.close()
  }
  if (transport === 'memory') judge(target as Tap, revision)
}

interface Met {
  readonly target: Target
  readonly client: Client
}

/** One client for each transport with a peer elsewhere and each revision: what scenarios change they must not depend on. */
const meetings = new Map<string, Promise<Met>>()
let running: Promise<Running> | undefined
let secure: Promise<Running> | undefined
let folder: string | undefined

function meet(transport: Transport, revision: Revision): Promise<Met> {
  if (transport === 'memory') return open(transport, revision)
  const key = `${transport} ${revision}`
  let met = meetings.get(key)
  if (met === undefined) meetings.set(key, (met = open(transport, revision)))
  return met
}

async function open(transport: Transport, revision: Revision): Promise<Met> {
  const target = await targetOf(transport)
  return { target, client: await connect(target, { revision, ...trust(transport) }) }
}

async function targetOf(transport: Transport): Promise<Target> {
  if (transport === 'memory') return tap(createEverything())
  if (transport === 'stdio') return { command: process.execPath, args: [bundled()] }
  if (transport === 'tls') {
    secure ??= createEverything().listen({ tcp: { port: 0, tls: testTls() } })
    return (await secure).addresses.tcp as string
  }
  running ??= createEverything().listen({
    http: { port: 0, sse: true },
    ws: true,
    tcp: { port: 0 },
    unix: testSocket(),
  })
  const { url, addresses } = await running
  if (transport === 'ws' || transport === 'tcp' || transport === 'unix') return addresses[transport] as string
  return transport === 'sse' ? new URL('/sse', url) : (url as string)
}

/** The certificate that the server over TLS has, and no other. */
function trust(transport: Transport): ConnectOptions {
  return transport === 'tls' ? { tls: { pin: testIdentity().fingerprint } } : {}
}

/** The server as one file, which starts in a fraction of the time. */
function bundled(): string {
  if (folder !== undefined) return join(folder, 'server.mjs')
  folder = mkdtempSync(join(tmpdir(), 'pierhead-client-'))
  return bundle(new URL('server.ts', import.meta.url), join(folder, 'server.mjs'))
}

afterAll(async () => {
  for (const met of meetings.values()) await (await met).client.close()
  await (await running)?.close()
  await (await secure)?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true })
})
