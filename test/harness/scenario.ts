import { afterAll, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { open, type Client } from './client.ts'
import { withErlmcp } from './erlmcp.ts'
import { closeListener, closeListeners } from './line-http.ts'
import { carries, TRANSPORTS, type AnyApp, type Transport } from './line.ts'
import { complaints } from './transcript.ts'

export interface ScenarioOptions {
  /** First and last revision that has what is shown. */
  readonly since?: Revision
  readonly until?: Revision
  readonly only?: readonly Revision[]
  /** What the client declares. */
  readonly capabilities?: JsonObject
  readonly clientInfo?: JsonObject
  /** False where what is shown is the official form itself. */
  readonly profiles?: boolean
  /** False leaves the handshake to the scenario. */
  readonly handshake?: boolean
}

/** What a scenario may need besides its client. */
export interface Stage {
  readonly app: AnyApp
  readonly transport: Transport
  /** Connects another client of the same kind. */
  join(options?: { readonly capabilities?: JsonObject; readonly clientInfo?: JsonObject }): Promise<Client>
}

type Run = (client: Client, revision: Revision, stage: Stage) => Promise<void>

/** One behaviour, stated once and tested over every transport and every revision that has it. */
export function scenario(
  title: string,
  app: AnyApp | (() => AnyApp),
  run: Run,
  options: ScenarioOptions = {},
): void {
  const [, words = title, ids = ''] = /^(.*?)((?: \[[A-Z0-9.-]+\])*)$/i.exec(title) ?? []
  for (const revision of REVISIONS.filter((one) => isIncluded(one, options))) {
    for (const transport of TRANSPORTS.filter((one) => carries(one, revision))) {
      test(`${words} · ${transport} ${revision}${ids}`, () =>
        assertScenario(app, run, transport, revision, options))
    }
  }
  const profiled = REVISIONS.filter((one) => one === PROFILED && options.profiles !== false)
  for (const revision of profiled.filter((one) => isIncluded(one, options)))
    test(`${words} · erlmcp ${revision}${ids}`, () => assertProfile(app, run, options))
}

/** The revision that profiles are about. */
const PROFILED: Revision = '2025-11-25'

/** The same behaviour with a server that speaks as a profile does, for a client that understands it. */
async function assertProfile(
  given: AnyApp | (() => AnyApp),
  run: Run,
  options: ScenarioOptions,
): Promise<void> {
  const app = typeof given === 'function' ? given() : given
  const spoken = withErlmcp(app)
  const clients: Client[] = []
  const join: Stage['join'] = async (more = {}) => {
    const client = await open(spoken.app, { ...options, ...more, transport: 'memory', revision: PROFILED })
    clients.push(client)
    return client
  }
  try {
    await run(await join(), PROFILED, { app, transport: 'memory', join })
  } finally {
    for (const client of clients) await client.close()
    spoken.restore()
  }
}

/** Runs a scenario once, and checks every message of its clients against the schema. */
export async function assertScenario(
  given: AnyApp | (() => AnyApp),
  run: Run,
  transport: Transport,
  revision: Revision,
  options: ScenarioOptions,
): Promise<void> {
  const app = typeof given === 'function' ? given() : given
  const clients: Client[] = []
  const join: Stage['join'] = async (more = {}) => {
    const client = await open(app, { ...options, ...more, transport, revision })
    clients.push(client)
    return client
  }
  try {
    await run(await join(), revision, { app, transport, join })
    judge(clients)
  } finally {
    for (const client of clients) await client.close()
    if (given !== app) closeListener(app)
  }
}

/** Fails when a message broke the official schema of its revision, or when there is no message at all to check. */
function judge(clients: readonly Client[]): void {
  if (clients.every(({ transcript }) => transcript.length === 0))
    throw new Error('no message was sent or received, so there is nothing to check')
  for (const { transcript, revision } of clients) {
    const found = complaints(transcript, revision)
    if (found.length > 0) throw new Error(`the schema of ${revision} is broken:\n${found.join('\n')}`)
  }
}

function isIncluded(revision: Revision, { since, until, only }: ScenarioOptions): boolean {
  if (only !== undefined) return only.includes(revision)
  return (since === undefined || revision >= since) && (until === undefined || revision <= until)
}

afterAll(() => closeListeners())
