import { expect, test } from 'vitest'
import { defineExtension } from '../../src/extensions.ts'
import { createServer } from '../../src/index.ts'
import { official } from '../../src/profiles.ts'
import { open } from '../harness/client.ts'
import type { AnyApp } from '../harness/connection.ts'

const ID = 'com.example/gives'
const VALUES = {
  object: { a: 1 },
  array: [1, 'x', null],
  string: 'x',
  number: 6,
  boolean: false,
  null: null,
} as const

const gives = defineExtension({
  id: ID,
  methods: { give: {} },
  serve: () => ({
    give: (_, { params }) => {
      if (params['what'] === 'error') throw new Error('no')
      return VALUES[params['what'] as keyof typeof VALUES] as never
    },
  }),
})

/** What each answer carries besides its id. */
async function answers(isLoose: boolean): Promise<Readonly<Record<string, unknown>>> {
  const profile = official.with({ jsonrpcLoose: isLoose })
  const app = createServer({ name: 'loose', version: '1', profile, log: () => undefined }).extend(gives)
  const client = await open(app as unknown as AnyApp, {
    transport: 'memory',
    revision: '2025-11-25',
    capabilities: { experimental: { [ID]: {} } },
  })
  const found: Record<string, unknown> = {}
  for (const what of [...Object.keys(VALUES), 'error']) {
    const reply = await client.post(client.requestText(what, `${ID}/give`, { what }))
    const { jsonrpc: _, id, ...rest } = reply as { jsonrpc: string; id: string }
    found[id] = rest
  }
  await client.close()
  return found
}

const FAILED = {
  error: {
    code: -32603,
    message: expect.stringMatching(/^internal error/),
    data: { refusal: expect.objectContaining({ code: 1079 }) },
  },
}

test('with jsonrpcLoose an extension gives any JSON value, and an error is still an object [S2-1.1-4] [S2-1.3-3]', async () => {
  const given = Object.entries(VALUES).map(([what, result]) => [what, { result }])
  expect(await answers(true)).toEqual({ ...Object.fromEntries(given), error: FAILED })
})

test('without it only objects are results: nothing is an empty one, the rest an error [S2-1.1-4] [S2-1.3-3]', async () => {
  expect(await answers(false)).toEqual({
    object: { result: { a: 1 } },
    null: { result: {} },
    array: FAILED,
    string: FAILED,
    number: FAILED,
    boolean: FAILED,
    error: FAILED,
  })
})
