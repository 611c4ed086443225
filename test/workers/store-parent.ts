/* A process that keeps stores for others, as the parent of workers does. Several connections share its one IPC channel. */
import { Channel } from '../../src/workers/channel.ts'
import { openParentStores, StoreGuest } from '../../src/workers/store-host.ts'
import type { ParentStores } from '../../src/workers/store-steps.ts'
import type { Carried } from './connection.ts'

const places = new Map<string, ParentStores>()
const connections = new Map<number, { readonly guest: StoreGuest; receive(message: unknown): void }>()

process.on('message', ({ to, open, message, end }: Carried) => {
  if (open !== undefined) connect(to, open)
  if (message !== undefined) connections.get(to)?.receive(message)
  if (end === true) connections.get(to)?.guest.end()
})

function connect(to: number, place: string): void {
  const stores = places.get(place) ?? openParentStores()
  places.set(place, stores)
  let receive: (message: unknown) => void = () => undefined
  const port = {
    send: (message: object, sent: () => void) =>
      void process.send?.({ to, message }, undefined, undefined, () => sent()),
    receive: (onMessage: (message: unknown) => void) => void (receive = onMessage),
  }
  const guest: StoreGuest = new StoreGuest(stores, () => channel.hasNews())
  const channel = new Channel(
    port,
    {
      step: (name: string, args: readonly unknown[]) => guest.step(name, args),
      watch: (...args: Parameters<StoreGuest['watch']>) => guest.watch(...args),
      unwatch: (watch: number) => guest.unwatch(watch),
    },
    () => guest.takeNews(),
  )
  connections.set(to, { guest, receive: (message) => receive(message) })
}
