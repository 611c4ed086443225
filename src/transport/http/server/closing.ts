import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { within } from '../../io/timer.ts'
import { replyOn } from './retire.ts'

const QUIET_TURNS = 5
const MAX_TURNS = 1000
/** How long the last connections may take to send a request, and how often to look. */
const [FIRST_MS, POLL_MS] = [500, 5]
/** How long sending the last replies may take once everything has been answered. */
const CLOSE_MS = 2000
/** How long connections stay open for requests that are on their way while other nodes serve the same clients. */
const LINGER_MS = 1000

/** Accepts connections that are already waiting, so that they get an error. Node accepts one per turn of the loop. */
export async function acceptWaiting(accepted: () => number): Promise<void> {
  for (let quiet = 0, turns = 0; quiet < QUIET_TURNS && turns < MAX_TURNS; turns++) {
    const before = accepted()
    await new Promise((resolve) => setImmediate(resolve))
    quiet = accepted() === before ? quiet + 1 : 0
  }
}

/**
 * Refuses further connections and keeps the others, unlike `close` of HTTP. Proxies try another server if a connection is refused, but not
 * if it is lost.
 */
export function stopListening(server: Server): Promise<void> {
  return new Promise(
    (resolve) => void NetServer.prototype.close.call(server, () => resolve(void server.close())),
  )
}

/** Gives accepted connections a moment to send their first request, which is rejected. */
export async function answerAccepted(sockets: ReadonlySet<Socket>): Promise<void> {
  const until = performance.now() + FIRST_MS
  const isSilent = ({ bytesRead, destroyed }: Socket): boolean => bytesRead === 0 && !destroyed
  while ([...sockets].some(isSilent) && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
}

/**
 * Waits a moment until clients have gone to other nodes: a request on a connection that is kept alive gets an error and closes it. Then
 * sends a last reply over connections without a request, and ends them. A request that is on its way gets this reply and does not run; if the
 * connection were just closed, its client could not know that. The connections are still read for a moment, because a request that arrived
 * at a closed one would reset it, and its client could lose the reply.
 */
export async function dismiss(sockets: ReadonlySet<Socket>, reply: string): Promise<void> {
  await emptied(sockets)
  for (const socket of sockets)
    if (replyOn(socket) === undefined && socket.writable) socket.on('error', () => undefined).end(reply)
  await emptied(sockets)
}

/** Resolves when all connections are closed, or after a moment. */
function emptied(sockets: ReadonlySet<Socket>): Promise<void> {
  return within(LINGER_MS, (done) => {
    const check = (): void => void (sockets.size === 0 && done())
    for (const socket of sockets) socket.once('close', check)
    check()
  })
}

/** Closes connections once everything written has been sent. Node would abort them in the middle. */
export function closeSent(sockets: ReadonlySet<Socket>): Promise<unknown> {
  const all = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
  for (const socket of sockets) socket.destroySoon()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => (timer = setTimeout(resolve, CLOSE_MS)))
  return Promise.race([Promise.all(all), late]).finally(() => clearTimeout(timer))
}
