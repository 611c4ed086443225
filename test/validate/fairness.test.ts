import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { ENVELOPE_RULES } from '../../src/validate/server-rules/envelope.ts'
import { HTTP_STREAM_RULES } from '../../src/validate/server-rules/http-streams.ts'
import { JSON_RPC_RULES } from '../../src/validate/server-rules/json-rpc.ts'
import { LINE_RULES } from '../../src/validate/server-rules/lines.ts'
import { PROGRESS_RULES } from '../../src/validate/server-rules/progress.ts'
import { PROMPT_RULES } from '../../src/validate/server-rules/prompts.ts'
import { ROUND_RULES } from '../../src/validate/server-rules/rounds.ts'
import { TOOL_LIST_RULES } from '../../src/validate/server-rules/tool-lists.ts'
import { TOOL_RULES } from '../../src/validate/server-rules/tools.ts'
import { paramHeaders } from '../../src/validate/tool-call.ts'
import type { Outcome } from '../../src/validate/run.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Transport } from '../../src/validate/rule.ts'
import { serveEverywhere, type Served } from './faulty-door.ts'
import { inResult, without, type Fault } from './fault.ts'
import { createFixture } from './fixture.ts'
import { outcomesOf } from './prove.ts'

const RULES = [
  ...JSON_RPC_RULES,
  ...HTTP_STREAM_RULES,
  ...TOOL_RULES,
  ...TOOL_LIST_RULES,
  ...PROMPT_RULES,
  ...ROUND_RULES,
  ...ENVELOPE_RULES,
  ...LINE_RULES,
  ...PROGRESS_RULES,
]

interface Place {
  readonly revision?: Revision
  readonly transport?: Transport
  readonly mayCall?: boolean
  readonly at?: Served
}

let served: Served
beforeAll(async () => {
  served = await serveEverywhere(createFixture())
})
afterAll(() => served.close())

/** What rules say about a server that is unusual, and maybe not wrong. */
async function verdicts(
  ids: readonly string[],
  fault: Omit<Fault, 'rule' | 'does'>,
  { revision = '2026-07-28', transport = 'http', mayCall, at = served }: Place = {},
): Promise<readonly string[]> {
  const rules = RULES.filter(({ id }) => ids.includes(id))
  expect(rules).toHaveLength(ids.length)
  const outcomes: readonly Outcome[] = await outcomesOf(at, rules, {
    revision,
    transport,
    mayCall,
    fault: { rule: '', does: '', ...fault },
  })
  return outcomes.map(({ id, is }) => `${id} ${is}`)
}

async function serving(app: App): Promise<Served> {
  const other = await serveEverywhere(app)
  onTestFinished(() => other.close())
  return other
}

/** Leaves a capability out of the greeting. */
function undeclared(message: Message, name: string): Message {
  const capabilities = member(message, 'result', 'capabilities') as Message | undefined
  if (capabilities === undefined) return message
  return {
    ...message,
    result: { ...(message['result'] as Message), capabilities: without(capabilities, name) },
  }
}

test('calls that ask for input again and again have no result yet', async () => {
  const asks = inResult('tools/call', () => ({
    resultType: 'input_required',
    inputRequests: { roots: { method: 'roots/list' } },
  }))
  expect(await verdicts(['R142', 'R147'], { message: asks })).toEqual(['R142 unchecked', 'R147 unchecked'])
})

test('a quick tool that waited for a slow one in the survey is not cancelled', async () => {
  const app = createServer({ name: 'queue', version: '1.0.0' })
  let last: Promise<unknown> | undefined
  const inTurn = (work: () => Promise<unknown> | undefined) => async (): Promise<string> => {
    while (last !== undefined) await last
    last = work()?.finally(() => (last = undefined))
    await last
    return 'done'
  }
  const input = { type: 'object', properties: {} } as const
  const slowly = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 250))
  app.tool('slow', { description: 'Takes a while', input }, inTurn(slowly))
  app.tool(
    'quick',
    { description: 'Takes no time', input },
    inTurn(() => undefined),
  )
  const at = await serving(app)
  for (const transport of ['stdio', 'tcp'] as const)
    expect(await verdicts(['R067'], {}, { at, transport })).toEqual(['R067 passed'])
  for (const transport of ['stdio', 'http'] as const) {
    const place = { at, transport, revision: '2025-11-25' } as const
    expect(await verdicts(['V194'], {}, place)).toEqual(['V194 passed'])
  }
})

test('a call that is answered at once cannot be cancelled', async () => {
  let [calls, slowCalls] = [0, 3]
  const answer = ({ id, method, params }: Message): Message | undefined =>
    method === 'tools/call' && member(params, 'name') === 'work' && ++calls > slowCalls
      ? { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [] } }
      : undefined
  const message = inResult('tools/list', (result) => ({
    ...result,
    tools: (result['tools'] as readonly Message[]).filter(({ name }) => name === 'work'),
  }))
  expect(await verdicts(['R067'], { answer, message }, { transport: 'tcp' })).toEqual(['R067 unchecked'])
  const place = { transport: 'tcp', revision: '2025-11-25' } as const
  for (slowCalls of [1, 3]) {
    calls = 0
    expect(await verdicts(['V194'], { answer, message }, place)).toEqual(['V194 unchecked'])
  }
})

test('without consent, the level of log messages stays as it is; with it, the last one is debug', async () => {
  const levels: unknown[] = []
  const answer = ({ method, params }: Message): undefined => {
    if (method === 'logging/setLevel') levels.push(member(params, 'level'))
  }
  const revision = '2025-11-25'
  expect(await verdicts(['R185'], { answer }, { revision, mayCall: false })).toEqual(['R185 passed'])
  expect(levels.splice(0)).toEqual(['validator'])
  expect(await verdicts(['R185'], { answer }, { revision })).toEqual(['R185 passed'])
  expect(new Set(levels).size).toBe(9)
  expect(levels.at(-1)).toBe('debug')
})

test('a server that refuses one of the eight levels is caught with consent', async () => {
  const answer = ({ id, method, params }: Message): Message | undefined =>
    method === 'logging/setLevel' && member(params, 'level') === 'notice'
      ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'no such level' } }
      : undefined
  expect(await verdicts(['R185'], { answer }, { revision: '2025-11-25' })).toEqual(['R185 failed'])
})

test('an empty list needs no capability', async () => {
  const empty = inResult('tools/list', (result) => ({ ...result, tools: [] }))
  const message: Fault['message'] = (one, request) => empty(undeclared(one, 'tools'), request)
  expect(await verdicts(['R140', 'R048'], { message })).toEqual(['R140 passed', 'R048 passed'])
})

test('a server that declares completions need not complete every argument', async () => {
  const answer = ({ id, method }: Message): Message | undefined =>
    method === 'completion/complete'
      ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'no completion' } }
      : undefined
  expect(await verdicts(['R180', 'R181'], { answer })).toEqual(['R180 passed', 'R181 absent'])
})

test('completions of later arguments are looked at too', async () => {
  const app = createServer({ name: 'completes', version: '1.0.0' })
  const args = {
    type: 'object',
    properties: { first: { type: 'string' }, second: { type: 'string' } },
  } as const
  app.prompt('two', { description: 'Two arguments', args }, () => 'text')
  app.complete('two', 'second', () => ['a'])
  const at = await serving(app)
  const message: Fault['message'] = (one, request) => {
    if (request?.['method'] !== 'completion/complete') return undeclared(one, 'completions')
    if (member(request, 'params', 'argument', 'name') === 'first')
      return { jsonrpc: '2.0', id: one['id'], error: { code: -32_602, message: 'no completion' } }
    return { ...one, result: { resultType: 'complete', completion: { values: [1] } } }
  }
  expect(await verdicts(['R180', 'R181'], { message }, { at })).toEqual(['R180 failed', 'R181 failed'])
})

test('tools that require a task or a capability are not called with wrong arguments', async () => {
  const required = inResult('tools/list', (result) => ({
    ...result,
    tools: (result['tools'] as readonly Message[]).map((tool) => ({
      ...tool,
      execution: { taskSupport: 'required' },
    })),
  }))
  const revision = '2025-11-25'
  expect(await verdicts(['R146'], { message: required }, { revision })).toEqual(['R146 unchecked'])
  const answer = ({ id, method, params }: Message): Message | undefined =>
    method === 'tools/call' && member(params, 'name') === 'echo'
      ? { jsonrpc: '2.0', id, error: { code: -32_021, message: 'sampling', data: {} } }
      : undefined
  expect(await verdicts(['R146'], { answer })).toEqual(['R146 passed'])
})

test('a changed state may be rejected with isError', async () => {
  const message: Fault['message'] = (one, request) =>
    one['error'] !== undefined && member(request, 'params', 'requestState') !== undefined
      ? { jsonrpc: '2.0', id: one['id'], result: { resultType: 'complete', content: [], isError: true } }
      : one
  expect(await verdicts(['R226'], { message })).toEqual(['R226 passed'])
})

test('calls that are repeated have the headers for their arguments', async () => {
  const app = createServer({ name: 'headers', version: '1.0.0' })
  const city = { type: 'string', 'x-mcp-header': 'City' }
  const trip = {
    type: 'object',
    properties: { to: { type: 'string', 'x-mcp-header': 'To' } },
    required: ['to'],
  }
  app.tool(
    'book',
    {
      description: 'Asks before it books',
      input: { type: 'object', properties: { city, trip }, required: ['city', 'trip'] },
    },
    async (_input, ctx) => {
      ctx.log.info('asks')
      await ctx.elicit('Sure?', { type: 'object', properties: { sure: { type: 'boolean' } } })
      return 'booked'
    },
  )
  const at = await serving(app)
  const ids = ['R222', 'R226', 'R227', 'R051', 'R186']
  const codes: unknown[] = []
  const message = (one: Message): Message => {
    codes.push(member(one, 'error', 'code'))
    return one
  }
  expect(await verdicts(ids, { message }, { at })).toEqual(
    ['R186', 'R222', 'R226', 'R227', 'R051'].map((id) => `${id} passed`),
  )
  expect(codes).not.toContain(-32_020)
})

test('headers also repeat arguments inside of others, as far as they are given', () => {
  const inputSchema = {
    properties: {
      a: { properties: { b: { 'x-mcp-header': 'B' }, c: { 'x-mcp-header': 'C' } } },
      d: { 'x-mcp-header': 'D' },
    },
  }
  expect(paramHeaders({ inputSchema }, { a: { b: 'x', c: null }, d: 3 })).toEqual({
    'mcp-param-B': 'x',
    'mcp-param-D': '3',
  })
})

test('a tool that only reads may be called, whatever it says about destroying', async () => {
  const called: unknown[] = []
  const message = inResult('tools/list', (result) => ({
    ...result,
    tools: (result['tools'] as readonly Message[]).map((tool) => ({
      ...tool,
      annotations: { destructiveHint: true, readOnlyHint: tool['name'] === 'echo' },
    })),
  }))
  const answer = ({ method, params }: Message): undefined => {
    if (method === 'tools/call') called.push(member(params, 'name'))
  }
  expect(await verdicts(['R142'], { message, answer })).toEqual(['R142 passed'])
  expect(called).toEqual(['echo'])
})

test('a slow tool is called with many tokens at once, so that the rule about them takes little time', async () => {
  const app = createServer({ name: 'slow', version: '1.0.0' })
  let [running, most] = [0, 0]
  app.tool('slow', { description: 'Takes a while', input: { type: 'object' } }, async (_input, ctx) => {
    most = Math.max(most, ++running)
    ctx.progress(1, 2)
    await new Promise((resolve) => setTimeout(resolve, 500))
    running--
    return 'done'
  })
  const at = await serving(app)
  expect(await verdicts(['V190'], {}, { at, transport: 'tcp' })).toEqual(['V190 passed'])
  expect(most).toBe(10)
  const message: Fault['message'] = (one) =>
    one['method'] === 'notifications/progress'
      ? {
          ...one,
          params: {
            ...(one['params'] as Message),
            progressToken: String(member(one, 'params', 'progressToken')),
          },
        }
      : one
  for (const transport of ['tcp', 'http'] as const)
    expect(await verdicts(['V190'], { message }, { at, transport })).toEqual(['V190 failed'])
})

test('rules about streams call the quickest tool that has one', async () => {
  const app = createServer({ name: 'streams', version: '1.0.0' })
  let slow = 0
  app.tool('slow', { description: 'Takes a while', input: { type: 'object' } }, async (_input, ctx) => {
    slow++
    ctx.progress(1, 2)
    await new Promise((resolve) => setTimeout(resolve, 400))
    return 'done'
  })
  app.tool('quick', { description: 'Takes no time', input: { type: 'object' } }, (_input, ctx) => {
    ctx.progress(1, 2)
    return 'done'
  })
  const at = await serving(app)
  const ids = ['R092', 'R093', 'R097']
  const place = { at, revision: '2025-11-25' } as const
  expect(await verdicts(ids, {}, place)).toEqual(
    ids.map((id) => expect.stringMatching(`${id} (passed|absent)`)),
  )
  expect(slow).toBe(1)
})

test('tools are called at once to see whether the list changes', async () => {
  const app = createServer({ name: 'slow', version: '1.0.0' })
  let [calls, running, most] = [0, 0, 0]
  for (const name of ['one', 'two', 'three'])
    app.tool(name, { description: 'Takes a while', input: { type: 'object' } }, async () => {
      // The survey has called each of them before.
      if (++calls <= 3) return 'done'
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 200))
      running--
      return 'done'
    })
  const at = await serving(app)
  expect(await verdicts(['R156'], {}, { at, transport: 'tcp' })).toEqual(['R156 absent'])
  expect([calls, most]).toEqual([6, 3])
})

test('lists are compared as a whole, not only their first pages', async () => {
  const message: Fault['message'] = (one, request) => {
    const tools = member(one, 'result', 'tools') as readonly Message[] | undefined
    if (tools === undefined || member(request, 'params', 'cursor') === undefined) return one
    const other = Number(one['id']) % 4 < 2 ? tools.toReversed() : tools
    return { ...one, result: { ...(one['result'] as Message), tools: other } }
  }
  expect(await verdicts(['R157'], { message })).toEqual(['R157 failed'])
})
