import type { SocketLibrary } from './client-socket.ts'
import { loadWs } from './load.ts'

/** Loads what opens WebSockets on Node. */
export function loadSockets(): Promise<SocketLibrary> {
  return loadWs(() => import('./node-socket.ts'))
}
