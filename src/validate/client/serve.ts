import type { Transport } from '../rule.ts'
import type { Behaviour } from './scenario.ts'
import type { Visit } from './visit.ts'

/** Where a client finds the server: a URL, or a command to start. */
export interface Address {
  readonly transport: Transport
  readonly url?: string | undefined
  readonly command?: readonly string[] | undefined
}

/** A server that plays a scenario. */
export interface Served {
  readonly address: Address
  close(): Promise<void>
}

/** Starts the server of a visit, and the web site beside it if the scenario has one. */
export async function serve(visit: Visit, behaviour: Behaviour): Promise<Served> {
  if (behaviour.hasSite !== true) return serveMessages(visit, behaviour)
  const closeSite = await (await import('./site.ts')).openSite(visit, behaviour)
  const served = await serveMessages(visit, behaviour)
  return {
    address: served.address,
    async close() {
      await Promise.all([served.close(), closeSite()])
    },
  }
}

async function serveMessages(visit: Visit, behaviour: Behaviour): Promise<Served> {
  const stage = { visit, behaviour }
  switch (visit.transport) {
    case 'http':
    case 'sse':
      return (await import('./serve-http.ts')).serveHttp(stage)
    case 'ws':
      return (await import('./serve-ws.ts')).serveWs(stage)
    case 'tcp':
      return (await import('./serve-lines.ts')).serveTcp(stage)
    case 'stdio':
      return (await import('./serve-lines.ts')).serveStdio(stage)
  }
}
