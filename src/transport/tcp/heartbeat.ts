import { JSONRPC } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'
import { LATEST, type Revision } from '../../protocol/revisions.ts'
import { everyMs } from '../io/timer.ts'

export interface HeartbeatOptions {
  /** Sends a request; any response counts. */
  ask(text: string): void
  /** Called when the server stayed silent even after a heartbeat. */
  onSilence(): void
}

export interface Heartbeat {
  /** Must be called whenever anything arrives. */
  readonly heard: () => void
  /** Sets the revision, which decides which request is sent. */
  readonly agree: (revision: Revision) => void
  stop(): void
}

/** Client requests never use this id, so the response is ignored. */
const ID = 'heartbeat'

/** Sends a heartbeat after `ms` of silence, and reports a server that stays silent for as long again. */
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
      text = requestOf(revision)
    },
    stop: () => clearInterval(timer),
  }

  function askNow(request: string): void {
    try {
      ask(request)
    } catch {
      // The write buffer is full; the next check shows whether the server is reading.
    }
  }
}

function requestOf(revision: Revision): string {
  if (revision !== LATEST) return JSON.stringify({ jsonrpc: JSONRPC, id: ID, method: 'ping' })
  const _meta = { [META.protocolVersion]: revision, [META.clientCapabilities]: {} }
  return JSON.stringify({ jsonrpc: JSONRPC, id: ID, method: 'server/discover', params: { _meta } })
}
