import { type Held, type HeldSockets, holdSockets } from './load/held-sockets.ts'
import { holdStreams } from './load/held-streams.ts'
import { answer } from './orders.ts'

/** What carries the sessions that are held. */
export type HeldTransport = 'tcp' | 'ws' | 'sse'

/** What a process that holds sessions of one server open can be asked to do. */
export interface HeldOrders {
  readonly open: { readonly transport: HeldTransport; readonly port: number; readonly count: number }
  readonly ping: Record<never, never>
  readonly burden: { readonly subscriptions: number }
}

/** How many sessions answered. */
export interface Alive {
  readonly answered: number
}

let held: Held | undefined
let sockets: HeldSockets | undefined

answer<HeldOrders>({
  open: ({ transport, port, count }) => {
    held ??= transport === 'sse' ? holdStreams(port) : (sockets = holdSockets(transport, port))
    return held.open(count)
  },
  burden: ({ subscriptions }) => sockets?.burden(subscriptions),
  ping: async (): Promise<Alive> => ({ answered: (await held?.ping()) ?? 0 }),
})

process.on('disconnect', () => process.exit(0))
