/** The functions that carry out the orders of a process's parent, by the name of the order. */
export type Handlers<Orders> = { readonly [Name in keyof Orders]: (order: Orders[Name]) => unknown }

/** A message from the parent: what to do, numbered. */
export interface Order {
  readonly number: number
  readonly name: string
  readonly value: unknown
}

/** The reply to an order, with the processor time that it cost this process. */
export interface Reply {
  readonly number: number
  readonly value?: unknown
  readonly error?: string
  readonly cpuMs: number
}

/** Carries out what the parent process orders over the IPC channel, and replies with the outcome. */
export function answer<Orders>(handlers: Handlers<Orders>): void {
  process.on('message', (order: Order) => void carryOut(order))

  async function carryOut({ number, name, value }: Order): Promise<void> {
    const before = process.cpuUsage()
    const cpuMs = (): number => {
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    }
    try {
      const handle = handlers[name as keyof Orders] as (value: unknown) => unknown
      reply({ number, value: await handle(value), cpuMs: cpuMs() })
    } catch (error) {
      reply({ number, error: error instanceof Error ? error.message : String(error), cpuMs: cpuMs() })
    }
  }
}

function reply(message: Reply): void {
  process.send?.(message)
}
