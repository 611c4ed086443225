// A server over stdio whose tool "t" is broken in the way that its argument names. Its other parts are right.
import { createInterface } from 'node:readline'

const [, , way = ''] = process.argv

const TOOL = {
  name: 't',
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
}

function send(id: unknown, answer: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
}

function toolError(text: string, refusal?: object): object {
  return {
    result: {
      content: [{ type: 'text', text }],
      isError: true,
      ...(refusal && { _meta: { 'dev.pierhead/refusal': refusal } }),
    },
  }
}

const RIGHT = { result: { content: [{ type: 'text', text: '{"sum":1}' }], structuredContent: { sum: 1 } } }

/** What a call gets, by the way; with `isRight` for an input that fits. */
const WAYS: Readonly<Record<string, (id: unknown, isRight: boolean) => object>> = {
  good: (_, isRight) => (isRight ? RIGHT : { error: { code: -32602, message: 'n is not a number' } }),
  official: (_, isRight) =>
    isRight ? RIGHT : toolError('MCP error -32602: Input validation error: Invalid arguments for tool t'),
  'own-error': (_, isRight) =>
    isRight ? toolError('no sums on Sundays') : { error: { code: -32602, message: 'no' } },
  'own-code': (_, isRight) =>
    isRight ? { error: { code: 4009, message: 'sold out' } } : { error: { code: -32602, message: 'no' } },
  masked: () => toolError('tool "t" failed (reference a1)', { code: 1079, name: 'INTERNAL_ERROR' }),
  internal: () => ({ error: { code: -32603, message: 'invalid argument' } }),
  vague: (_, isRight) => (isRight ? RIGHT : toolError('invalid argument: cannot read undefined')),
  accepting: () => RIGHT,
  rejecting: () => ({ error: { code: -32602, message: 'no' } }),
  'no-tool': () => ({
    error: { code: -32602, message: 'unknown tool t', data: { refusal: { name: 'TOOL_NOT_FOUND' } } },
  }),
  output: (_, isRight) =>
    isRight
      ? { result: { ...RIGHT.result, structuredContent: { sum: 'one' } } }
      : { error: { code: -32602, message: 'no' } },
  exit: () => process.exit(3),
  silent: () => ({}),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as {
    id?: unknown
    method: string
    params?: { arguments?: { n?: unknown } }
  }
  if (id === undefined) return
  if (method === 'initialize')
    return send(id, {
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'broken', version: '1.0.0' },
      },
    })
  if (method === 'tools/list') return send(id, { result: { tools: [TOOL] } })
  if (method !== 'tools/call') return send(id, { error: { code: -32601, message: 'no' } })
  const answer = WAYS[way]?.(id, typeof params?.arguments?.n === 'number') ?? {}
  if (Object.keys(answer).length > 0) send(id, answer)
})
