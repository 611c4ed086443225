import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import { CAPABILITIES, scripted, type Message, type Peer, type Scripted } from './scripted.ts'

/** The id of the only task. */
export const ID = 'task-1'

/** What `tasks/get` and the like are answered with. */
export type Turn = (message: Message, peer: Peer) => JsonObject | undefined

/** A task in the form of 2026-07-28. */
export function extensionTask(status: string, more: JsonObject = {}): JsonObject {
  return {
    taskId: ID,
    status,
    createdAt: '2026-11-01T10:00:00Z',
    lastUpdatedAt: '2026-11-01T10:00:00Z',
    ttlMs: 60_000,
    pollIntervalMs: 0,
    ...more,
  }
}

/** A task in the form of 2025-11-25. */
export function coreTask(status: string, more: JsonObject = {}): JsonObject {
  const { ttlMs, pollIntervalMs, ...task } = extensionTask(status)
  return { ...task, ttl: ttlMs, pollInterval: pollIntervalMs, ...more }
}

export function content(text: string, more: JsonObject = {}): JsonObject {
  return { content: [{ type: 'text', text }], ...more }
}

/** A server of 2026-07-28 that makes every call a task and answers each other method with its turn, over and over. */
export function extensionServer(turns: Readonly<Record<string, Turn>>): Scripted {
  return scripted(
    '2026-07-28',
    (message, peer) => {
      const turn = turns[message.method ?? '']
      if (turn === undefined && message.method === 'tools/call')
        peer.reply({ resultType: 'task', ...extensionTask('working') })
      else if (turn === undefined) return false
      else {
        const result = turn(message, peer)
        if (result !== undefined) peer.reply({ resultType: 'complete', ...result })
      }
      return true
    },
    { ...CAPABILITIES, extensions: { [TASKS_EXTENSION]: {} } },
  )
}

/** A server of 2025-11-25 with a tool `render` that must be called as a task. */
export function coreServer(
  turns: Readonly<Record<string, Turn>>,
  taskSupport: string = 'required',
): Scripted {
  const tools = [{ name: 'render', inputSchema: { type: 'object' }, execution: { taskSupport } }]
  return scripted(
    '2025-11-25',
    (message, peer) => {
      const { method = '', params = {} } = message
      const turn = turns[method]
      if (turn !== undefined) {
        const result = turn(message, peer)
        if (result !== undefined) peer.reply(result)
      } else if (method === 'tools/list') peer.reply({ tools })
      else if (method !== 'tools/call') return false
      else if (params['task'] === undefined) peer.refuse(-32601, 'call it as a task')
      else peer.reply({ task: coreTask('working') })
      return true
    },
    { ...CAPABILITIES, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  )
}

/** A result as `tasks/result` has it. */
export function related(result: JsonObject, id: string = ID): JsonObject {
  return { ...result, _meta: { [META.relatedTask]: { taskId: id } } }
}

/** Answers with one after another, and with the last for ever. */
export function oneByOne(...results: readonly JsonObject[]): Turn {
  let next = 0
  return () => results[Math.min(next++, results.length - 1)]
}
