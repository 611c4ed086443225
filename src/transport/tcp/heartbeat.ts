import { JSONRPC } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'
import { LATEST, type Revision } from '../../protocol/revisions.ts'
import { everyMs } from '../io/timer.ts'

export interface HeartbeatOptions {
  /** Sends a request; any answer will do. */
  ask(text: string): void
  /** Nothing came for a while, nor after having asked. */
  onSilence(): void
}

export interface Heartbeat {
  /** Something came. */
  readonly heard: () => void
  /** The revision decides what is asked. */
  readonly agree: (revision: Revision) => void
  stop(): void
}

/** No request of a client has such an id, so that nobody waits for the answer. */
const ID = 'heartbeat'

/** Asks a silent server whether it is still there, once for each while of silence. */
export function startHeartbeat(ms: number, { ask, onSilence }: HeartbeatOptions): Heartbeat {
  let text: string | undefined
  let wasHeard = true
  let asked = false
  const timer = everyMs(ms, () => {
    if (wasHeard || text === undefined) {
      wasHeard = false
      asked = false
    } else if (asked) onSilence()
    else {
      asked = true
      askNow(text)
    }
  })
  return {
    heard: () => {
      wasHeard = true
    },
    agree: (revision) => {
      text = questionOf(revision)
    },
    stop: () => clearInterval(timer),
  }

  function askNow(question: string): void {
    try {
      ask(question)
    } catch {
      // Too much waits already for the server to read: it will be seen whether it does.
    }
  }
}

function questionOf(revision: Revision): string {
  if (revision !== LATEST) return JSON.stringify({ jsonrpc: JSONRPC, id: ID, method: 'ping' })
  const _meta = { [META.protocolVersion]: revision, [META.clientCapabilities]: {} }
  return JSON.stringify({ jsonrpc: JSONRPC, id: ID, method: 'server/discover', params: { _meta } })
}
