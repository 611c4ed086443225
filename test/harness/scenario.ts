import { afterAll, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { open, type Client } from './client.ts'
import { withErlmcp } from './erlmcp.ts'
import { closeListener, closeListeners } from './connection-http.ts'
import { carries, TRANSPORTS, type AnyApp, type Transport } from './connection.ts'
import { schemaErrors } from './transcript.ts'

export interface ScenarioOptions {
  /** The first and last revision that have the behaviour. */
  readonly since?: Revision
  readonly until?: Revision
  readonly only?: readonly Revision[]
  /** The capabilities that the client declares. */
  readonly capabilities?: JsonObject
  readonly clientInfo?: JsonObject
  /** False if the scenario is about the official form itself. */
  readonly profiles?: boolean
  /** False leaves the handshake to the scenario. */
  readonly handshake?: boolean
}

/** The surroundings of a scenario besides its client. */
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

/** Runs a scenario against a server with the profile, for a client that understands it. */
async function assertProfile(
  given: AnyApp | (() => AnyApp),
  run: Run,
  options: ScenarioOptions,
): Promise<void> {
  const app = typeof given === 'function' ? given() : given
  const profiled = withErlmcp(app)
  const clients: Client[] = []
  const join: Stage['join'] = async (more = {}) => {
    const client = await open(profiled.app, { ...options, ...more, transport: 'memory', revision: PROFILED })
    clients.push(client)
    return client
  }
  try {
    await run(await join(), PROFILED, { app, transport: 'memory', join })
  } finally {
    for (const client of clients) await client.close()
    profiled.restore()
  }
}

/** Runs a scenario once and checks every message of its clients against the schema. */
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
    checkSchemas(clients)
  } finally {
    for (const client of clients) await client.close()
    if (given !== app) closeListener(app)
  }
}

/** Throws if a message breaks the official schema of its revision, or if there is no message to check. */
function checkSchemas(clients: readonly Client[]): void {
  if (clients.every(({ transcript }) => transcript.length === 0))
    throw new Error('no message was sent or received, so there is nothing to check')
  for (const { transcript, revision } of clients) {
    const found = schemaErrors(transcript, revision)
    if (found.length > 0) throw new Error(`messages break the schema of ${revision}:\n${found.join('\n')}`)
  }
}

function isIncluded(revision: Revision, { since, until, only }: ScenarioOptions): boolean {
  if (only !== undefined) return only.includes(revision)
  return (since === undefined || revision >= since) && (until === undefined || revision <= until)
}

afterAll(() => closeListeners())
