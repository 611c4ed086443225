import { WebSocket } from 'ws'
export { WebSocketServer } from 'ws'
import { CLOSE } from './close-codes.ts'

/** What the library keeps of an unfinished message. */
interface Receiver {
  readonly _fragments: readonly unknown[]
}

/** The server's end of a WebSocket. It can reply to a message that is too large, and knows if closing was agreed. */
export class ServerSocket extends WebSocket {
  onOversize: (() => void) | undefined
  /** Whether either side sent a close frame. */
  isOver = false

  /** The number of fragments of the message that is being received. */
  get fragments(): number {
    const { _receiver: receiver } = this as unknown as { readonly _receiver?: Receiver }
    return receiver?._fragments.length ?? 0
  }

  override close(code?: number, reason?: string | Buffer): void {
    this.isOver = true
    if (code === CLOSE.tooLarge && this.readyState === WebSocket.OPEN) this.onOversize?.()
    super.close(code, reason)
  }
}
