import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { LocalServer } from '../../src/client/target.ts'
import { tap, type Tap } from './tap.ts'

export interface Message extends JsonObject {
  readonly id?: number | string
  readonly method?: string
  readonly params?: JsonObject
  readonly result?: JsonObject
  readonly error?: JsonObject
}

export interface Peer {
  send(message: JsonObject): void
  reply(result: JsonObject): void
  refuse(code: number, message?: string, data?: JsonObject): void
}

/** Does what a test wants with a message; returns true when that is all. */
export type Script = (message: Message, peer: Peer) => boolean | void

export interface Scripted extends Tap {
  /** How many connections were closed by clients. */
  readonly closed: number
  /** Resolves when a client has sent such a message. */
  until(wanted: (message: Message) => boolean): Promise<Message>
  /** Says something on the newest connection. */
  say(message: JsonObject): void
}

export const CAPABILITIES: JsonObject = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  completions: {},
  logging: {},
}

/** A server that speaks one revision and does what a test wants; the handshake it knows by itself. */
export function scripted(
  revision: Revision,
  script: Script,
  capabilities: JsonObject = CAPABILITIES,
): Scripted {
  let closed = 0
  let say: (message: JsonObject) => void = () => undefined
  const waiting = new Set<() => void>()
  const server: LocalServer = {
    connect({ receive }) {
      let open = true
      const send = (message: JsonObject): void =>
        queueMicrotask(() => (open ? receive(JSON.stringify({ jsonrpc: '2.0', ...message })) : undefined))
      say = send
      return {
        send(text) {
          const message = JSON.parse(text) as Message
          const peer = peerOf(message, send)
          if (script(message, peer) !== true) greet(message, peer, revision, capabilities)
          queueMicrotask(() => waiting.forEach((look) => look()))
        },
        close() {
          open = false
          closed++
        },
      }
    },
  }
  const tapped = tap(server)
  return {
    ...tapped,
    get closed() {
      return closed
    },
    say: (message) => say(message),
    until: (wanted) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = (tapped.sent() as readonly Message[]).find(wanted)
          if (found === undefined) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      }),
  }
}

function peerOf({ id }: Message, send: (message: JsonObject) => void): Peer {
  return {
    send,
    reply: (result) => send({ id, result }),
    refuse: (code, message = 'refused', data) =>
      send({ id, error: { code, message, ...(data && { data }) } }),
  }
}

function greet({ id, method }: Message, peer: Peer, revision: Revision, capabilities: JsonObject): void {
  const serverInfo = { name: 'scripted', version: '1' }
  if (method === 'initialize' && revision !== '2026-07-28')
    peer.reply({ protocolVersion: revision, capabilities, serverInfo })
  else if (method === 'server/discover' && revision === '2026-07-28')
    peer.reply({
      resultType: 'complete',
      supportedVersions: [revision],
      capabilities,
      ttlMs: 0,
      cacheScope: 'public',
      _meta: { [META.serverInfo]: serverInfo },
    })
  else if (id !== undefined && method !== undefined) peer.refuse(-32601, `unknown method ${method}`)
}

/** A whole result of a tool, in the newest form. */
export function spoken(text: string, more: JsonObject = {}): JsonObject {
  return { resultType: 'complete', content: [{ type: 'text', text }], ...more }
}
