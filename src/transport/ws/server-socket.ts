import { WebSocket } from 'ws'
import { CLOSE } from './close-codes.ts'

/** The server's end of a WebSocket, which has a last word to a client whose message is too large, and knows of last words. */
export class ServerSocket extends WebSocket {
  onOversize: (() => void) | undefined
  /** Whether either side said that this is the end. */
  isOver = false

  override close(code?: number, reason?: string | Buffer): void {
    this.isOver = true
    if (code === CLOSE.tooLarge && this.readyState === WebSocket.OPEN) this.onOversize?.()
    super.close(code, reason)
  }
}
