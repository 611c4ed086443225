import type { Message } from '../../src/validate/message.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Transport } from '../../src/validate/rule.ts'
import { inResult, without, type Fault, type FaultReply, type Instead } from './fault.ts'

/** A server with one thing wrong, and where it is tried. It does not know which rule should see it. */
export interface Mutant {
  readonly does: string
  readonly revision: Revision
  readonly transport: Transport
  readonly fault: Omit<Fault, 'rule' | 'does'>
}

export const OLD = { revision: '2025-11-25', transport: 'http' } as const
export const NEW = { revision: '2026-07-28', transport: 'http' } as const
export const LINES = { revision: '2025-06-18', transport: 'stdio' } as const
export const SOCKET = { revision: '2025-03-26', transport: 'ws' } as const
export const FIRST = { revision: '2024-11-05', transport: 'sse' } as const

export const isResponse = (message: Message): boolean => message['method'] === undefined
export const responses = (change: (message: Message) => Instead): Mutant['fault'] => ({
  message: (message: Message) => (isResponse(message) ? change(message) : message),
})
export const errors = (change: (error: Message) => Message): Mutant['fault'] =>
  responses((message) =>
    message['error'] === undefined ? message : { ...message, error: change(message['error'] as Message) },
  )
export const results = (method: string, change: (result: Message) => Message): Mutant['fault'] => ({
  message: inResult(method, change),
})
export const items = (
  method: string,
  key: string,
  change: (item: Message, at: number) => Message,
): Mutant['fault'] =>
  results(method, (result) => ({ ...result, [key]: (result[key] as readonly Message[]).map(change) }))
/** Answers requests of one method with a result. */
export const answers = (method: string, result: Message): Mutant['fault'] => ({
  answer: (message: Message) =>
    message['method'] === method && message['id'] !== undefined
      ? { jsonrpc: '2.0', id: message['id'], result }
      : undefined,
})
/** Changes replies over HTTP. */
export const replies = (
  change: (reply: FaultReply, message: Message | undefined) => FaultReply,
): Mutant['fault'] => ({
  http: async (
    { message }: { readonly message: Message | undefined },
    next: () => Promise<FaultReply>,
  ): Promise<FaultReply> => change(await next(), message),
})
/** Sees requests over HTTP without some headers. */
export const blindTo = (...names: readonly string[]): Mutant['fault'] => ({
  request: (request) => ({
    ...request,
    headers: without(request.headers as Message, ...names) as Readonly<Record<string, string>>,
  }),
})
export const isNotification = (message: Message | undefined): boolean =>
  message !== undefined && message['id'] === undefined

/** Where a mutant is tried, what it does, and how. */
export type Row = readonly [Pick<Mutant, 'revision' | 'transport'>, string, Mutant['fault']]
