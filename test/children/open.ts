import { fileURLToPath } from 'node:url'
import { Deadline } from '../../src/rpc/deadline.ts'
import type { McpError } from '../../src/errors/error.ts'
import { toLimits } from '../../src/base/limits.ts'
import type { JsonObject, Message } from '../../src/protocol/jsonrpc.ts'
import type { ClientTransport } from '../../src/rpc/client-transport.ts'
import { connectStdio, type ConnectStdioOptions } from '../../src/transport/stdio/client.ts'

/** A line to a child, with all that it tells, and short ways to use it. */
export interface Opened {
  readonly line: ClientTransport
  readonly notes: readonly string[]
  readonly messages: readonly Message[]
  readonly downs: readonly Error[]
  /** Resolves when the line goes down. */
  readonly down: Promise<Error>
  call(method: string, params?: JsonObject, signal?: AbortSignal): Promise<Message>
  /** The result of a call that succeeds. */
  result(method: string, params?: JsonObject): Promise<Record<string, unknown>>
}

/** The path of a program beside this file. */
export function program(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

export type Launch = Partial<ConnectStdioOptions>

/** Starts the server of this folder, or another command. */
export async function open(options: Launch = {}): Promise<Opened> {
  const notes: string[] = []
  const messages: Message[] = []
  const downs: Error[] = []
  let id = 0
  let fall: (reason: Error) => void
  const down = new Promise<Error>((resolve) => (fall = resolve))
  const openLine = connectStdio({
    command: process.execPath,
    args: [program('server.mjs')],
    limits: toLimits(),
    ...options,
  })
  const line = await openLine({
    onMessage: (message) => void messages.push(message),
    onDown(reason) {
      downs.push(reason)
      fall(reason)
    },
    onNote: (kind, text) => void notes.push(`${kind}: ${text}`),
  })
  const call: Opened['call'] = (method, params = {}, signal) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
    const cancel = new Deadline({ method, idleMs: Infinity, totalMs: Infinity, signal })
    return line.request({ id, method, text, cancel, headers: () => ({}), onMessage: () => undefined })
  }
  const result: Opened['result'] = async (method, params) => {
    const { result: value } = await call(method, params)
    return value as Record<string, unknown>
  }
  return { line, notes, messages, downs, down, call, result }
}

/** Waits until a condition holds, and fails when it does not within the time. */
export async function until(holds: () => boolean, ms = 30_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!holds()) {
    if (performance.now() > deadline)
      throw new Error(`this did not come to hold within ${ms} ms: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The kind of the error that something is rejected with. Ask for it at once, so that no rejection goes unheard. */
export async function kindOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    return (error as McpError).kind
  }
}
