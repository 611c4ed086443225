import { describe, expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { erlmcp, official, type Profile } from '../../src/profiles.ts'
import type { Choices } from '../../src/protocol/choices.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { createApp } from '../transcripts/app.ts'
import { tapped } from './tap.ts'

// What each choice does on the wire, its transcript shows (test/transcripts).
const CHOSEN: Readonly<Record<keyof Choices, readonly [string | boolean, string]>> = {
  batch: ['always', '[S2-9.4-16] [S2-1.5-1] [S2-1.5-2] [S2-1.5-3] [S2-1.5-4] [S2-1.5-5] [S2-1.5-6]'],
  argumentErrors: ['error', '[S2-4.2-5]'],
  versionMismatch: ['reject', '[S2-2.5-2]'],
  earlyPing: ['refused', '[S2-2.1-2] [S2-2.1-3]'],
  toolFailures: ['error', '[S2-4.3-7]'],
  nullIdErrors: [true, '[S2-1.6-8]'],
  resourceRefs: ['name', '[S2-7.2-1]'],
  systemRole: ['passed', '[S2-5.3-2]'],
  temperature: ['checked', '[S2-6.2-2]'],
  strictShapes: [false, '[S2-4.3-1]'],
  strictMime: [false, '[S2-3.3-3] [S2-3.3-4] [S2-3.3-5] [S2-3.3-6]'],
  progressErrors: ['refused', '[S2-8.2-10]'],
  receivedValues: ['shown', '[S2-8.4-2]'],
  jsonrpcLoose: [false, '[S2-1.1-4] [S2-1.3-3]'],
  extensions: ['open', '[S2-4.1-2] [S2-9.4-2]'],
  extensionNames: ['bare', '[S2-4.1-2] [S2-9.4-2]'],
  notificationNames: ['bare', '[S2-1.4-3] [S2-4.5-1] [S2-5.4-1]'],
  initializedFrom: ['both', '[S2-1.4-4] [S2-2.1-6] [S2-2.4-1]'],
  errorNumbers: ['erlmcp', '[S2-4.3-7] [S2-9.3-2] [S2-11.4-2]'],
  refusalCodes: ['code', '[S2-0-3]'],
  httpStatusFromRefusal: ['all', '[S2-8.3-2]'],
  binaryContents: ['both', '[S2-3.3-2]'],
  resourceBlocks: ['uri', '[S2-5.3-3]'],
  completionShape: ['listed', '[S2-7.2-3]'],
  annotations: ['free', '[S2-3.2-3]'],
  serverCapabilities: ['extra', '[S2-2.3-3] [S2-2.3-5]'],
  clientCapabilities: ['enabled', '[S2-2.2-2] [S2-9.1-4] [S2-9.2-1]'],
  samplingFields: ['short', '[S2-6.2-4] [S2-6.2-5]'],
  progressTokens: ['direct', '[S2-4.3-2]'],
  toolExecute: ['alias', '[S2-12.4]'],
  requestsCancel: ['answered', '[S2-9.4-14]'],
  shutdown: ['answered', ''],
  timeouts: ['short', '[S2-13-S7] [S2-13-C10]'],
}

test('what profile erlmcp chooses is said here for every choice', () => {
  expect(Object.keys(erlmcp.choices).toSorted()).toEqual(Object.keys(CHOSEN).toSorted())
})

test.each(Object.entries(CHOSEN).map(([name, [value, ids]]) => [name, value, ids] as const))(
  'profile erlmcp chooses %s: %s %s',
  (name, value) => {
    expect(erlmcp.choices[name as keyof Choices]).toBe(value)
  },
)

interface Request extends JsonObject {
  readonly id: number | string
}

/** Opens a connection, asks, and gives back the answer to each request by its id. */
async function exchange(
  profile: Profile,
  messages: readonly Request[],
): Promise<ReadonlyMap<unknown, JsonObject>> {
  const answers = new Map<unknown, JsonObject>()
  const end = createApp(profile).connect({
    receive(text) {
      const message = JSON.parse(text) as JsonObject
      if (!('method' in message)) answers.set(message['id'], message)
    },
  })
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  }
  for (const message of [{ id: 'open', method: 'initialize', params }, ...messages]) {
    end.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
    await expect.poll(() => message.id === 'long' || answers.has(message.id)).toBe(true)
  }
  end.close()
  return answers
}

describe('profile erlmcp', () => {
  test.each([
    ['official', official, { missing: -32601, there: { error: { code: -32601 } } }],
    ['erlmcp', erlmcp, { missing: -32031, there: { result: { content: [{ text: '1' }] } } }],
  ] as const)(
    'tool/execute is unknown officially, and calls a tool in erlmcp: %s [S2-12.4]',
    async (_, profile, { missing, there }) => {
      const ask = (id: number, name: string): Request => ({
        id,
        method: 'tool/execute',
        params: { name, arguments: { a: 1 } },
      })
      const answers = await exchange(profile, [ask(1, 'missing'), ask(2, 'add')])
      expect(answers.get(1)).toMatchObject({ error: { code: missing } })
      expect(answers.get(2)).toMatchObject(there)
    },
  )

  test('requests/cancel stops the request that it names, and is answered with {} [S2-9.4-14]', async () => {
    const long = { id: 'long', method: 'tools/call', params: { name: 'linger', arguments: {} } }
    const asked = { method: 'tools/call', params: { name: 'lingered', arguments: {} } }
    const answers = await exchange(erlmcp, [
      long,
      { id: 1, ...asked },
      { id: 2, method: 'requests/cancel', params: { requestId: 'long' } },
      { id: 3, ...asked },
      { id: 4, method: 'requests/cancel', params: { requestId: 'over' } },
      { id: 5, method: 'requests/cancel', params: { requestId: {} } },
    ])
    expect(answers.get(1)).toMatchObject({ result: { content: [{ text: 'still there' }] } })
    expect(answers.get(2)).toEqual({ jsonrpc: '2.0', id: 2, result: {} })
    expect(answers.get(3)).toMatchObject({ result: { content: [{ text: 'left' }] } })
    expect(answers.get(4)).toEqual({ jsonrpc: '2.0', id: 4, result: {} })
    expect(answers.get(5)).toHaveProperty('error')
    expect(answers.has('long')).toBe(false)
  })

  test.each([
    ['end_turn', 'endTurn'],
    ['max_tokens', 'maxTokens'],
    ['stop_sequence', 'stopSequence'],
  ])('an answer of the model says %s on the wire, in a list of content [S2-6.2-5]', async (short, long) => {
    const { server, said } = tapped(createApp(erlmcp))
    const content = { type: 'text', text: 'Yes.' } as const
    const sample = (): JsonObject => ({ role: 'assistant', content, model: 'm', stopReason: long })
    const client = await connect(server, { profile: erlmcp, answers: { sample } })
    expect(await client.call('judge')).toBe(long)
    expect(said('client').flatMap(({ result }) => (result === undefined ? [] : [result]))).toEqual([
      { role: 'assistant', content: [content], model: 'm', stopReason: short },
    ])
    await client.close()
  })

  test.each([
    [official, [-1, 0, 1, 2, 3], []],
    [erlmcp, [0, 1, 2], [-0.01, 2.01, Number.NaN]],
  ] as const)(
    'a temperature is optional, and from 0 to 2 [S2-6.2-2] %#',
    async (profile, passed, refused) => {
      let temperature: number | undefined
      const app = createServer({ name: 'warm', version: '1', profile, log: () => undefined }).tool(
        'ask',
        {},
        async (_, { sample }) => {
          const messages = [{ role: 'user', content: 'Go.' }] as const
          await sample({ messages, ...(temperature !== undefined && { temperature }) })
          return 'asked'
        },
      )
      const asked: unknown[] = []
      const sample = (params: JsonObject): JsonObject => {
        asked.push(params['temperature'])
        return { role: 'assistant', content: { type: 'text', text: 'y' }, model: 'm' }
      }
      const client = await connect(app, { profile, revision: '2025-11-25', answers: { sample } })
      for (temperature of [undefined, ...passed]) expect(await client.call('ask')).toBe('asked')
      for (temperature of refused) await expect(client.call('ask')).rejects.toThrow(/failed/)
      expect(asked).toEqual([undefined, ...passed])
      await client.close()
    },
  )
})
