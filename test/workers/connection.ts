import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Channel } from '../../src/workers/channel.ts'
import { parentStore, type ParentStore } from '../../src/workers/parent-store.ts'
import type { News } from '../../src/workers/store-host.ts'

/** A message of one of several connections. */
export interface Carried {
  readonly to: number
  /** The place whose stores the connection uses from now on. */
  readonly open?: string
  readonly message?: object
  /** The process of the connection is gone. */
  readonly end?: boolean
}

export interface Connection {
  readonly driver: ParentStore['driver']
  /** How many messages were sent to the other process. */
  readonly sent: () => number
  readonly channel: Channel
  /** Does what happens when the process of the connection is gone. */
  end(): void
}

/** A process that keeps stores, and connections to it. */
export class StoreParent {
  readonly #child: ChildProcess = fork(new URL('store-parent.ts', import.meta.url), {
    execArgv: ['--import', 'tsx', '--conditions', 'pierhead-source'],
    serialization: 'advanced',
  })
  readonly #receivers = new Map<number, (message: unknown) => void>()

  constructor() {
    this.#child.setMaxListeners(0)
    this.#child.on('message', ({ to, message }: Carried) => this.#receivers.get(to)?.(message))
  }

  connect(place: string): Connection {
    const to = this.#receivers.size + 1
    let sent = 0
    const carry = (carried: Omit<Carried, 'to'>, done: () => void = () => undefined): void =>
      void this.#child.send({ to, ...carried }, done)
    carry({ open: place })
    const channel = new Channel(
      {
        send(message, done) {
          sent++
          carry({ message }, done)
        },
        receive: (onMessage) => void this.#receivers.set(to, onMessage),
      },
      { news: (news: News) => onNews(news) },
    )
    const { driver, onNews } = parentStore({
      step: (name, args) => channel.call('step', name, args),
      watch: (...watch) => channel.tell('watch', ...watch),
      unwatch: (watch) => channel.tell('unwatch', watch),
    })
    return { driver, channel, sent: () => sent, end: () => carry({ end: true }) }
  }

  async close(): Promise<void> {
    this.#child.kill()
    await once(this.#child, 'exit')
  }
}
