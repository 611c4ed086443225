import type { ErrorObject, JsonObject } from '../../src/protocol/jsonrpc.ts'

/** What a server does with calls, one after another: an error, silence, or the end of the connection; then it answers. */
export type Turn = ErrorObject | 'silence' | 'cut'

/** What a server remembers, over all its connections. */
export interface Memory {
  calls: number
  opens: number
}

export interface Asked {
  readonly id?: number
  readonly method: string
  readonly params?: JsonObject
}

/** What a server of 2025-11-25 does about a message. A call that is answered tells how many there were. */
export function respond(turns: readonly Turn[], memory: Memory, asked: Asked): Turn | JsonObject | undefined {
  if (asked.id === undefined) return undefined
  if (asked.method === 'initialize') {
    memory.opens++
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'scripted', version: '1' },
    }
  }
  if (asked.method !== 'tools/call') return { code: -32601, message: 'no such method' }
  const turn = turns[memory.calls++]
  return turn ?? { content: [{ type: 'text', text: `call ${memory.calls}` }] }
}

export function isError(turn: Turn | JsonObject): turn is ErrorObject {
  return typeof turn === 'object' && 'code' in turn && 'message' in turn
}

/** The text of a reply. */
export function replyTo(asked: Asked, turn: ErrorObject | JsonObject): string {
  const said = isError(turn) ? { error: turn } : { result: turn }
  return JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...said })
}
