import { WebSocket } from 'ws'
import { CLOSE } from './close-codes.ts'

/** The server's end of a WebSocket, which has a last word to a client whose message is too large. */
export class ServerSocket extends WebSocket {
  onOversize: (() => void) | undefined

  override close(code?: number, reason?: string | Buffer): void {
    if (code === CLOSE.tooLarge && this.readyState === WebSocket.OPEN) this.onOversize?.()
    super.close(code, reason)
  }
}
