import type { Socket } from 'node:net'
import { within } from '../io/timer.ts'

/**
 * Closes a connection so that the other side receives everything written to it. Further input is read and discarded,
 * because closing with unread bytes resets the connection and the other side may lose the last bytes it received.
 */
export async function linger(socket: Socket, ms: number): Promise<void> {
  socket.removeAllListeners('data')
  socket.resume()
  socket.end()
  if (!socket.closed) await within(ms, (gone) => void socket.once('close', gone))
  socket.destroy()
}
