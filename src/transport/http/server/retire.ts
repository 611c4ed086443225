import { Server as NetServer, type Socket } from 'node:net'
import { pause } from '../../../base/backoff.ts'
import type { Limits } from '../../../protocol/limits.ts'

/** How often to look whether a listener that retires is still needed. */
const LOOK_MS = 50

/** The requests of a listener. */
interface Requests {
  /** How many are running that end by themselves. */
  readonly working: number
  readonly limits: Limits
}

/**
 * Stops listening, without closing connections. Resolves when no client has an idle connection any more and all requests are answered, or
 * when clients should have closed theirs: `limits.idleMs` is announced to them.
 */
export async function retireListener(
  server: NetServer,
  sockets: ReadonlySet<Socket>,
  requests: Requests,
): Promise<void> {
  // The function of node:http would also close idle connections, on which a request may be under way.
  NetServer.prototype.close.call(server)
  const { idleMs, drainMs } = requests.limits
  const until = performance.now() + idleMs + drainMs
  while (performance.now() < until && (requests.working > 0 || [...sockets].some(isIdle))) await pause(LOOK_MS)
}

/** The reply that a connection waits for or gets. Only this internal property shows it. */
export function replyOn(socket: Socket): { readonly headersSent: boolean } | undefined {
  return (socket as { _httpMessage?: { readonly headersSent: boolean } | null })._httpMessage ?? undefined
}

/** Whether a connection waits for its next request. One that was upgraded has no parser any more. */
function isIdle(socket: Socket): boolean {
  const { parser } = socket as { parser?: unknown }
  return parser !== null && parser !== undefined && replyOn(socket) === undefined
}
