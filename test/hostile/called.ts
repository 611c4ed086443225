import { expect } from 'vitest'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { processorMs } from '../harness/processor.ts'
import { all, meet, tool, type Way } from './peer.ts'

/** Milliseconds of processor time that a call may cost whatever the schema says; checking blocks everything else. */
const MOST_MS = 4000

export interface Outcome {
  readonly kind: 'fits' | 'bad_answer' | 'other'
  readonly ms: number
}

/** Lists a tool with an output schema, calls it, and says what came of its structured content. */
export async function called(way: Way, outputSchema: unknown, structuredContent: unknown): Promise<Outcome> {
  const { client } = await meet(way, ({ method }, wire) => {
    if (method === 'tools/list') return wire.reply({ tools: [tool('t', { outputSchema } as JsonObject)] })
    return method === 'tools/call' ? wire.reply({ content: [], structuredContent }) : false
  })
  let outcome: unknown
  const ms = await processorMs(async () => {
    await all(client.tools())
    outcome = await client.call('t').catch((error: unknown) => error)
  })
  await client.ping()
  await client.close()
  const { kind } = outcome as { readonly kind?: string }
  return { kind: !(outcome instanceof Error) ? 'fits' : kind === 'bad_answer' ? kind : 'other', ms }
}

/** Calls a tool and expects that the client stays responsive, whatever it makes of the answer. */
export async function expectHarmless(
  way: Way,
  schema: unknown,
  value: unknown,
  mostMs: number = MOST_MS,
): Promise<void> {
  const { kind, ms } = await called(way, schema, value)
  expect(kind).not.toBe('other')
  expect(ms).toBeLessThan(mostMs)
}
