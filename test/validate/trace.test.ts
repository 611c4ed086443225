import { expect, test } from 'vitest'
import { JSON_RPC_RULES } from '../../src/validate/server-rules/json-rpc.ts'
import { RESOURCE_RULES } from '../../src/validate/server-rules/resources.ts'
import { Trace } from '../../src/validate/trace.ts'
import type { Outcome } from '../../src/validate/run.ts'
import type { Fault } from './fault.ts'
import { serveEverywhere } from './faulty-door.ts'
import { createFixture } from './fixture.ts'
import { outcomesOf } from './prove.ts'

async function outcomeWith(id: string, fault: Omit<Fault, 'rule' | 'does'>): Promise<Outcome | undefined> {
  const served = await serveEverywhere(createFixture())
  try {
    const rules = [...JSON_RPC_RULES, ...RESOURCE_RULES].filter((rule) => rule.id === id)
    const place = { revision: '2025-11-25', transport: 'http' } as const
    return (await outcomesOf(served, rules, { ...place, fault: { rule: id, does: '', ...fault } }))[0]
  } finally {
    await served.close()
  }
}

/** Answers every reading of this address with contents. */
function reading(uri: string): Pick<Fault, 'answer'> {
  return {
    answer: ({ id, method, params }) =>
      method === 'resources/read' && (params as { uri: unknown }).uri === uri
        ? { jsonrpc: '2.0', id, result: { contents: [{ uri, text: 'root:x:0:0' }] } }
        : undefined,
  }
}

test('the last entries of a long run are kept', () => {
  const trace = new Trace()
  for (let at = 0; at < 12_000; at++) trace.add({ from: 'peer', stream: 'x', text: String(at) })
  expect(trace.mark).toBe(12_000)
  expect(trace.between(11_990).map(({ text }) => text)).toEqual(
    Array.from({ length: 10 }, (_, nth) => String(11_990 + nth)),
  )
  expect(trace.between(0, undefined, Infinity).length).toBeLessThan(6_000)
})

test('a reply over HTTP is one entry', async () => {
  const outcome = await outcomeWith('R005', {
    message: (message, request) =>
      request === undefined ? message : { ...message, id: String(message['id']) },
  })
  expect(outcome?.is).toBe('failed')
  const replies = (outcome?.entries ?? []).filter(({ from }) => from === 'peer')
  expect(replies.length).toBeGreaterThan(0)
  expect(new Set(replies.map(({ stream }) => stream)).size).toBe(replies.length)
})

test('what a file has in it is not part of a report', async () => {
  const outcome = await outcomeWith('R177', reading('file:///etc/passwd'))
  expect(outcome?.is).toBe('failed')
  expect(outcome?.entries?.length).toBeGreaterThan(1)
  expect(JSON.stringify(outcome)).not.toContain('root:x')
})

test.each(['file:///etc/passwd', 'file:///etc', 'file:///'])(
  'a server may list %s on purpose',
  async (uri) => {
    const outcome = await outcomeWith('R177', {
      ...reading('file:///etc/passwd'),
      message: (message, request) =>
        request?.['method'] === 'resources/list'
          ? { ...message, result: { resources: [{ uri, name: 'shown' }] } }
          : message,
    })
    expect(outcome?.is).toBe('passed')
  },
)

test('resources of which none can be read are not checked', async () => {
  const outcome = await outcomeWith('R171', {
    answer: ({ id, method }) =>
      method === 'resources/read'
        ? { jsonrpc: '2.0', id, error: { code: -32_002, message: 'no' } }
        : undefined,
  })
  expect(outcome?.is).toBe('unchecked')
})
