// A server over stdio that sends too much of something: `images 5000`, `tools 50000`, `nested 2000`, `ask 1000000`.
import { createInterface } from 'node:readline'

const [, , way = '', amount = '0'] = process.argv
const count = Number(amount)
let calling: unknown

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}

const listOf = (minItems: number, items: object): object => ({ type: 'array', minItems, items })
const lists = (i: number): object => listOf(90 + i, listOf(90, listOf(9, { type: 'string', minLength: 9 })))

/** A tool, in the way `nested` one for which inputs are tried for long, and none is found. */
const tool = (name: string, i: number): object => ({
  name,
  inputSchema:
    way === 'nested' ? { type: 'object', required: ['a'], properties: { a: lists(i) } } : { type: 'object' },
})

/** A page of tools, all of whose names begin with the same words. */
function toolsFrom(at: number): object {
  const size = Math.min(1000, count - at)
  return {
    tools: Array.from({ length: size }, (_, i) => tool(`get_user_${at + i}`, at + i)),
    ...(at + size < count && { nextCursor: String(at + size) }),
  }
}

/** What the calls of tools get, by the way of the server. */
const CALLS: Readonly<Record<string, (id: unknown) => void>> = {
  images: (id) =>
    send({
      id,
      result: {
        content: Array.from({ length: count }, () => ({
          type: 'image',
          data: 'AAAA',
          mimeType: 'image/png',
        })),
      },
    }),
  ask: (id) => {
    calling = id
    const message = 'an endless story \n'.repeat(count / 18)
    const params = { message, requestedSchema: { type: 'object', properties: {} } }
    send({ id: 'question', method: 'elicitation/create', params })
  },
}

createInterface({ input: process.stdin }).on('line', (text) => {
  const { id, method, params, result } = JSON.parse(text) as {
    id?: unknown
    method?: string
    params?: { cursor?: string }
    result?: { action?: string }
  }
  if (id === 'question' && method === undefined)
    return send({ id: calling, result: { content: [{ type: 'text', text: `you said ${result?.action}` }] } })
  if (id === undefined) return
  if (method === 'initialize')
    return send({
      id,
      result: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'amounts', version: '1' },
      },
    })
  if (method === 'ping') return send({ id, result: {} })
  if (method === 'tools/list')
    return send({
      id,
      result:
        way === 'tools' || way === 'nested'
          ? toolsFrom(Number(params?.cursor ?? 0))
          : { tools: [tool('t', 0)] },
    })
  if (method === 'tools/call') return CALLS[way]?.(id)
  send({ id, error: { code: -32601, message: 'no' } })
})
