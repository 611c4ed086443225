import { describe, expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { erlmcp, official, type Profile } from '../../src/profiles.ts'
import type { Choices } from '../../src/protocol/choices.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { createApp } from '../transcripts/app.ts'
import { tapped } from './tap.ts'

// What each choice does on the wire, its transcript shows (test/transcripts).
const CHOSEN: Readonly<Record<keyof Choices, string | boolean>> = {
  batch: 'always',
  argumentErrors: 'error',
  versionMismatch: 'reject',
  earlyPing: 'refused',
  toolFailures: 'error',
  nullIdErrors: true,
  resourceRefs: 'name',
  systemRole: 'passed',
  temperature: 'checked',
  strictShapes: false,
  strictMime: false,
  progressErrors: 'refused',
  receivedValues: 'shown',
  jsonrpcLoose: false,
  extensions: 'open',
  extensionNames: 'bare',
  notificationNames: 'bare',
  initializedFrom: 'both',
  errorNumbers: 'erlmcp',
  refusalCodes: 'code',
  httpStatusFromRefusal: 'all',
  binaryContents: 'both',
  resourceBlocks: 'uri',
  completionShape: 'listed',
  annotations: 'free',
  serverCapabilities: 'extra',
  clientCapabilities: 'enabled',
  samplingFields: 'short',
  progressTokens: 'direct',
  toolExecute: 'alias',
  tasksCreate: 'alias',
  requestsCancel: 'answered',
  shutdown: 'answered',
  timeouts: 'short',
}

test('what profile erlmcp chooses is said here for every choice', () => {
  expect(Object.keys(erlmcp.choices).toSorted()).toEqual(Object.keys(CHOSEN).toSorted())
})

test.each(Object.entries(CHOSEN))('profile erlmcp chooses %s: %s', (name, value) => {
  expect(erlmcp.choices[name as keyof Choices]).toBe(value)
})

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
