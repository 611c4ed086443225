import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { afterMs, type Timer } from '../../io/timer.ts'

/** How much a client may send ahead before it is read no further. Clients send nothing before their upgrade is answered. */
const AHEAD_BYTES = 4096

/**
 * Calls `act` once the earlier requests of a connection are answered. Until then, the connection is read, because only that
 * shows whether the client leaves; a client that sends much ahead waits for at most `limitMs`.
 */
export function afterEarlier(socket: Duplex, limitMs: number, act: () => void): void {
  const { _httpMessage: earlier } = socket as { _httpMessage?: ServerResponse | null }
  if (earlier === undefined || earlier === null) return act()
  let ahead: Uint8Array = new Uint8Array()
  let timer: Timer
  const leave = (): void => void socket.destroy()
  const take = (chunk: Uint8Array): void => {
    // Many small parts would take far more memory than their bytes. A large one comes again for each request in it, and is not copied.
    ahead = ahead.length === 0 ? chunk : Buffer.concat([ahead, chunk])
    if (ahead.length < AHEAD_BYTES) return
    socket.pause()
    timer ??= afterMs(limitMs, leave)
  }
  const stop = (): void => {
    clearTimeout(timer)
    socket.off('error', leave).off('end', leave).off('data', take).off('close', stop)
    earlier.off('finish', onFinish)
  }
  const onFinish = (): void => {
    stop()
    // As Node leaves a connection that it hands over: the next listener starts the reading.
    ;(socket as { readableFlowing: boolean | null }).readableFlowing = null
    if (ahead.length > 0) socket.unshift(ahead)
    afterEarlier(socket, limitMs, act)
  }
  earlier.once('finish', onFinish)
  socket.on('error', leave).on('end', leave).on('close', stop).on('data', take)
}
