import { Server as NetServer, type Socket } from 'node:net'
import { pause } from '../../../base/backoff.ts'
import type { Limits } from '../../../protocol/limits.ts'
import type { Service } from '../../../rpc/service.ts'

/** How often to look whether a listener that retires is still needed. */
const LOOK_MS = 50
/** Clients of a server without `idleMs` have this long to use their connections. */
const LONGEST_IDLE_MS = 300_000
/** How many looks in a row must show that it is not. */
const QUIET_LOOKS = 2

/** What serves the requests of a listener. */
interface Serving {
  readonly service: Pick<Service, 'load'>
  readonly limits: Limits
}

/**
 * Stops listening, without closing connections. Resolves when no client has an idle connection any more and all requests are answered, or
 * when clients should have closed theirs: `limits.idleMs` is announced to them.
 */
export async function retireListener(
  server: NetServer,
  sockets: ReadonlySet<Socket>,
  { service: { load }, limits }: Serving,
): Promise<void> {
  // The function of node:http would also close idle connections, on which a request may be under way.
  NetServer.prototype.close.call(server)
  const { idleMs, drainMs } = limits
  const until = performance.now() + Math.min(idleMs, LONGEST_IDLE_MS) + drainMs
  const isNeeded = (): boolean => load.running + load.asking + load.waiting > 0 || [...sockets].some(isUsed)
  // A stream that has just ended leaves its connection idle, so the last look is repeated.
  for (let quiet = 0; quiet < QUIET_LOOKS && performance.now() < until; await pause(LOOK_MS))
    quiet = isNeeded() ? 0 : quiet + 1
}

/** What Node knows of a reply. */
interface Reply {
  readonly headersSent: boolean
  /** The head that was sent. */
  readonly _header?: string | null
}

/** The reply that a connection waits for or gets. Only this internal property shows it. */
export function replyOn(socket: Socket): Reply | undefined {
  return (socket as { _httpMessage?: Reply | null })._httpMessage ?? undefined
}

/**
 * Whether a client has sent a request, or may do so: not on a connection that was upgraded, which has no parser any more, nor on one with an
 * event stream, which either belongs to a running request or lasts until the server closes.
 */
function isUsed(socket: Socket): boolean {
  const { parser } = socket as { parser?: unknown }
  if (parser === null || parser === undefined) return false
  return replyOn(socket)?._header?.includes('text/event-stream') !== true
}
