import { type HeldSessions, type HeldSockets, holdSockets } from './load/held-sockets.ts'
import { holdStreams } from './load/held-streams.ts'
import { runCommands } from './commands.ts'

/** The transport of the held sessions. */
export type HeldTransport = 'tcp' | 'ws' | 'sse'

/** The commands of a process that holds sessions of one server open. */
export interface HeldCommands {
  readonly open: { readonly transport: HeldTransport; readonly port: number; readonly count: number }
  readonly ping: Record<never, never>
  readonly makeBusy: { readonly subscriptions: number }
}

/** The number of sessions that answered. */
export interface PingResult {
  readonly answered: number
}

let held: HeldSessions | undefined
let sockets: HeldSockets | undefined

runCommands<HeldCommands>({
  open: ({ transport, port, count }) => {
    held ??= transport === 'sse' ? holdStreams(port) : (sockets = holdSockets(transport, port))
    return held.open(count)
  },
  makeBusy: ({ subscriptions }) => sockets?.makeBusy(subscriptions),
  ping: async (): Promise<PingResult> => ({ answered: (await held?.ping()) ?? 0 }),
})

process.on('disconnect', () => process.exit(0))
