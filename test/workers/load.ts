import { Agent } from 'node:http'
import { call, message } from '../http/messages.ts'
import { open } from '../http/server.ts'
import { send } from '../http/wire.ts'

/** What clients saw. */
export interface Seen {
  requests: number
  /** The processes that answered. */
  readonly pids: Set<string>
  readonly problems: string[]
}

/** Clients that call one after the other, each over connections that are kept alive, until the signal. */
export async function load(port: number, clients: number, signal: AbortSignal): Promise<Seen> {
  const seen: Seen = { requests: 0, pids: new Set(), problems: [] }
  await Promise.all(Array.from({ length: clients }, (_, which) => run(port, which, seen, signal)))
  return seen
}

async function run(port: number, which: number, seen: Seen, signal: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 })
  const session = await open(port)
  await session.post(message('notifications/initialized'))
  for (let id = 1; !signal.aborted; id++) {
    // Some answers are streams, some take long, and some clients pause, so that their connections are idle for a while.
    const isSlow = (id + which) % 5 === 0
    const body = isSlow ? call('slow', { ms: 30 }, id, { progressToken: id }) : call('who', {}, id)
    try {
      const { status, text } = await send(port, { body, headers: session.headers, agent })
      seen.requests++
      const [, pid] = /"text":"(\d+)"/.exec(text) ?? []
      if (status !== 200 || pid === undefined) seen.problems.push(`${status} ${text}`)
      else seen.pids.add(pid)
    } catch (error) {
      seen.problems.push(String(error))
    }
    if (which % 3 === 0) await new Promise((resolve) => setTimeout(resolve, (id * 37) % 150))
  }
  agent.destroy()
}
