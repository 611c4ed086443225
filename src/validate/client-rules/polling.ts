import { Deferred } from '../../base/deferred.ts'
import type { ClientSubject } from '../client-subject.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Visit } from '../client/visit.ts'
import { D_ONLY, passed, unchecked, type Transport, type Verdict } from '../rule.ts'
import { broken, shown } from './verdicts.ts'

const HTTP: readonly Transport[] = ['http']
/** How long the polling server wants a client to wait. */
export const RETRY_MS = 300
/** How much earlier a timer may fire. */
const SLACK_MS = 20
const EVENT_ID = 'validator-event-1'
/** How long a call waits for a stream that began with GET to be opened, */
const OPEN_MS = 300
/** and to be opened again. */
const AGAIN_MS = 1_500

/** Looks whether a client asks for the rest of streams: one that began with POST, and one that began with GET if it opens any. */
export async function polls(subject: ClientSubject): Promise<Verdict> {
  const [called, listened] = await Promise.all([subject.visit(POLLING), subject.visit(LISTENING)])
  const verdicts = [resumed(called), resumed(listened)]
  return (
    verdicts.find(({ is }) => is === 'failed') ?? verdicts.find(({ is }) => is === 'passed') ?? verdicts[0]!
  )
}

function resumed(visit: Visit): Verdict {
  const closed = visit.notes.get('closed')
  if (typeof closed !== 'number') return unchecked('the client calls no tool')
  const again = visit.http('GET').find(({ http }) => http.headers['last-event-id'] !== undefined)
  if (again === undefined) {
    if (visit.notes.has('hurried')) return unchecked('the client leaves before it can open the stream again')
    return broken(visit, undefined, 'the client does not ask for the rest of the stream')
  }
  const id = again.http.headers['last-event-id']
  if (id !== EVENT_ID) return broken(visit, again, `Last-Event-ID is ${shown(id)}, not ${EVENT_ID}`)
  const waited = Math.round(again.ms - closed)
  return waited >= RETRY_MS - SLACK_MS
    ? passed
    : broken(visit, again, `the client waits ${waited} ms, and retry is ${RETRY_MS} ms`)
}

const POLLING: Scenario = {
  name: 'polling',
  does: 'closes the stream of a call, and continues it later',
  revisions: D_ONLY,
  transports: HTTP,
  official: 'sse-retry',
  begin() {
    let waiting: unknown
    return {
      offer: (offer) => ({
        ...offer,
        // The official suite has a tool of this name for the same purpose.
        tools: [
          {
            name: 'test_reconnection',
            description: 'Takes a while',
            inputSchema: { type: 'object', properties: {} },
          },
          ...offer.tools,
        ],
      }),
      http(exchange) {
        const { seen, visit } = exchange
        const [message] = seen.messages
        if (message?.['method'] === 'tools/call' && !visit.notes.has('closed')) {
          waiting = message['id']
          const events = exchange.events()
          events.event({ id: EVENT_ID, data: '', retry: RETRY_MS })
          events.end()
          visit.notes.set('closed', visit.ms)
          return true
        }
        if (seen.http.method !== 'GET' || seen.http.headers['last-event-id'] === undefined) return false
        const events = exchange.events()
        const result = { content: [{ type: 'text', text: 'done' }] }
        events.event({
          id: 'validator-event-2',
          data: JSON.stringify({ jsonrpc: '2.0', id: waiting, result }),
        })
        events.end()
        return true
      },
    }
  },
}

const LISTENING: Scenario = {
  name: 'listening',
  does: 'closes the stream that a client opened with GET, and continues it later',
  revisions: D_ONLY,
  transports: HTTP,
  begin() {
    const again = new Deferred<void>()
    return {
      http(exchange) {
        const { seen, visit } = exchange
        if (seen.http.method !== 'GET') return false
        const events = exchange.events()
        if (seen.http.headers['last-event-id'] !== undefined) again.resolve()
        if (visit.notes.has('closed')) return true
        events.event({ id: EVENT_ID, data: '', retry: RETRY_MS })
        events.end()
        // Until a call has waited, the client may have had no time.
        visit.notes.set('closed', visit.ms).set('hurried', true)
        return true
      },
      async message({ method, visit: { notes } }) {
        if (method !== 'tools/call' || notes.has('waited')) return false
        notes.set('waited', true)
        await within(again.promise, OPEN_MS)
        if (notes.has('closed')) {
          await within(again.promise, AGAIN_MS)
          notes.delete('hurried')
        }
        return false
      },
    }
  },
}

async function within(waiting: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  await Promise.race([waiting, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}
