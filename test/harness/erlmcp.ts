import { serviceOf } from '../../src/app/app.ts'
import { erlmcp } from '../../src/profiles.ts'
import { idText, type JsonObject, type RequestId } from '../../src/protocol/jsonrpc.ts'
import { DIALECTS, type Dialects } from '../../src/protocol/switches.ts'
import type { AnyApp } from './line.ts'

/** The forms of the profile. What it also does otherwise is not what scenarios are about. */
const FORMS = erlmcp.with({
  batch: 'by-revision',
  argumentErrors: 'by-revision',
  versionMismatch: 'negotiate',
  earlyPing: 'answered',
  toolFailures: 'result',
  nullIdErrors: false,
  systemRole: 'refused',
  temperature: 'free',
  extensions: 'declared',
  errorNumbers: 'official',
  refusalCodes: 'data',
  initializedFrom: 'client',
})
const ADAPTER = FORMS.dialects['2025-11-25'].adapter!

interface Message {
  readonly id?: RequestId
  readonly method?: string
  readonly params?: JsonObject
  readonly result?: JsonObject
}

/** The same server, speaking with the profile to a client that understands it, until `restore` is called. */
export function withErlmcp(app: AnyApp): { readonly app: AnyApp; restore(): void } {
  speak(app, FORMS.dialects)
  const connect: AnyApp['connect'] = ({ receive, ...options }) => {
    const asked = new Map<string, string>()
    const end = app.connect({ ...options, receive: (text) => receive(opened(text, asked)) })
    return {
      ...end,
      send(text) {
        remember(text, asked)
        end.send(text)
      },
    }
  }
  return { app: { connect } as AnyApp, restore: () => speak(app, DIALECTS) }
}

function speak(app: AnyApp, dialects: Dialects): void {
  const service = serviceOf(app)
  ;(service as { dialects: Dialects }).dialects = dialects
  service.refold()
}

/** Keeps what a request asks for, since its answer does not say. */
function remember(text: string, asked: Map<string, string>): void {
  const { id, method } = readable(text)
  if ((typeof id === 'string' || typeof id === 'number') && method !== undefined)
    asked.set(idText(id), method)
}

/** What the server said, in the official form. */
function opened(text: string, asked: ReadonlyMap<string, string>): string {
  const message = readable(text)
  const { id, method, params = {}, result } = message
  if (method !== undefined && id === undefined)
    return JSON.stringify({ ...message, ...ADAPTER.decodeNotification({ method, params }) })
  const about = id === undefined || id === null ? undefined : asked.get(idText(id))
  if (result === undefined || about === undefined || !CHANGED.has(about)) return text
  return JSON.stringify({ ...message, result: ADAPTER.decodeResult(about, result) })
}

const CHANGED: ReadonlySet<string> = new Set(['completion/complete', 'resources/read', 'prompts/get'])

function readable(text: string): Message {
  try {
    return (JSON.parse(text) ?? {}) as Message
  } catch {
    return {}
  }
}
