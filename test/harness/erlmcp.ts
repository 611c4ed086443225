import { serviceOf } from '../../src/app/app.ts'
import { erlmcp } from '../../src/profiles.ts'
import { idText, type JsonObject, type RequestId } from '../../src/protocol/jsonrpc.ts'
import { DIALECTS, type Dialects } from '../../src/protocol/switches.ts'
import type { AnyApp } from './connection.ts'

/** The profile with only its message forms; scenarios do not test its other differences. */
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
  setDialects(app, FORMS.dialects)
  const connect: AnyApp['connect'] = ({ receive, ...options }) => {
    const methods = new Map<string, string>()
    const end = app.connect({ ...options, receive: (text) => receive(decoded(text, methods)) })
    return {
      ...end,
      send(text) {
        remember(text, methods)
        end.send(text)
      },
    }
  }
  return { app: { connect } as AnyApp, restore: () => setDialects(app, DIALECTS) }
}

function setDialects(app: AnyApp, dialects: Dialects): void {
  const service = serviceOf(app)
  ;(service as { dialects: Dialects }).dialects = dialects
  service.refold()
}

/** Remembers the method of a request, since its answer does not have it. */
function remember(text: string, methods: Map<string, string>): void {
  const { id, method } = parse(text)
  if ((typeof id === 'string' || typeof id === 'number') && method !== undefined)
    methods.set(idText(id), method)
}

/** A message from the server in the official form. */
function decoded(text: string, methods: ReadonlyMap<string, string>): string {
  const message = parse(text)
  const { id, method, params = {}, result } = message
  if (method !== undefined && id === undefined)
    return JSON.stringify({ ...message, ...ADAPTER.decodeNotification({ method, params }) })
  const answered = id === undefined || id === null ? undefined : methods.get(idText(id))
  if (result === undefined || answered === undefined || !CHANGED.has(answered)) return text
  return JSON.stringify({ ...message, result: ADAPTER.decodeResult(answered, result) })
}

const CHANGED: ReadonlySet<string> = new Set(['completion/complete', 'resources/read', 'prompts/get'])

function parse(text: string): Message {
  try {
    return (JSON.parse(text) ?? {}) as Message
  } catch {
    return {}
  }
}
