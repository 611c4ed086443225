import { expect } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import type { Client } from '../harness/client.ts'
import type { AnyApp } from '../harness/connection.ts'

export const SECRET_PATH = '/srv/private/keys.pem'
export const SECRET_WORD = 'hunter2-canary'

/** A server to attack, and how often its tools ran. */
export interface Target {
  readonly app: AnyApp
  ran: number
}

/** A server as people write them: schemas of a library, raw schemas, and none. */
export function target(limits: Partial<Limits> = {}): Target {
  const self: Target = { app: undefined as unknown as AnyApp, ran: 0 }
  const count = <Value>(value: Value): Value => (self.ran++, value)
  const app = createServer({ name: 'target', version: '1', log: () => undefined, pageSize: 2, limits })
    .tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => count(text))
    .tool(
      'raw',
      { input: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false } },
      ({ text }) => count(text ?? 'none'),
    )
    .tool('any', { input: { type: 'object' } }, (input) =>
      count(`${Object.keys(input as object).length} members`),
    )
    .tool('boom', {}, () => {
      throw Object.assign(new Error(`cannot open ${SECRET_PATH}: ${SECRET_WORD}`), { secret: SECRET_WORD })
    })
    .prompt('greet', { args: z.object({ who: z.string() }) }, ({ who }) => `Hello ${who}`)
    .prompt('boom', {}, () => Promise.reject(new Error(`${SECRET_PATH} ${SECRET_WORD}`)))
    .resource('note://one', {}, () => 'one')
    .resource('note://boom', {}, () => {
      throw new Error(`${SECRET_PATH} ${SECRET_WORD}`)
    })
    .resource('item://{id}', {}, ({ id }) => `item ${id}`)
    .complete('greet', 'who', (value, known) => [value, ...Object.keys(known)])
    .complete('item://{id}', 'id', () => Promise.reject(new Error(SECRET_WORD)))
  return Object.assign(self, { app: app as AnyApp })
}

export interface Refusal {
  readonly id?: unknown
  readonly error: { readonly code: number; readonly message: string; readonly data?: JsonObject }
}

/** Sends a text that must be refused with a code. */
export async function expectRefused(client: Client, text: string, code: number): Promise<Refusal> {
  const reply = (await client.post(text)) as Refusal
  expect([text.slice(0, 200), reply.error?.code]).toEqual([text.slice(0, 200), code])
  return reply
}

/** The server is still of sound mind. */
export async function expectAlive(client: Client): Promise<void> {
  const said = `still here ${Math.random()}`
  expect(await client.call('echo', { text: said })).toMatchObject({ content: [{ type: 'text', text: said }] })
  expect(({} as JsonObject)['polluted']).toBeUndefined()
  expect(Object.keys(Object.prototype)).toEqual([])
}

/** The text of a call of the tool `echo`, to be spoilt. */
export function sound(client: Client, id: number | string = 'spoilt'): string {
  return client.requestText(id, 'tools/call', { name: 'echo', arguments: { text: 'x' } })
}

/** The text of a notification. */
export function note(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}
