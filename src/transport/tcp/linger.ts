import type { Socket } from 'node:net'
import { within } from '../io/timer.ts'

/**
 * Ends a connection so that what was written to it is seen: whatever still comes is read and thrown away, since a
 * system that closes with unread bytes tells the other side to forget the last it got.
 */
export async function linger(socket: Socket, ms: number): Promise<void> {
  socket.removeAllListeners('data')
  socket.resume()
  socket.end()
  if (!socket.closed) await within(ms, (gone) => void socket.once('close', gone))
  socket.destroy()
}
