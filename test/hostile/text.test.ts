import { expect, test } from 'vitest'
import { connect, ToolError } from '../../src/client.ts'
import { all, EARLIER, WAYS, failure, meet, serve, tool, web } from './peer.ts'

const EVIL =
  '\u001b]0;owned\u0007\u001b[31mred\u001b[2J\u009b1A\u0000\b\r\u007f\u202Egnp.exe\u2066\nFAKE\u2028LINE'
const RAW = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u
/** The same in texts that may have several lines. */
const RAW_IN_LINES = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u

test.each(WAYS)(
  'C.ansi terminal escapes in errors of the server are not printed raw, over %s',
  async (way) => {
    for (const speaks of ['2026-07-28', EARLIER] as const) {
      for (const code of [-32603, -32602, -32601, -32042, 7]) {
        const { client } = await meet(
          way,
          ({ id, method }, wire) =>
            method === 'tools/call'
              ? wire.send({ jsonrpc: '2.0', id, error: { code, message: `no ${EVIL}`, data: EVIL } })
              : false,
          { speaks },
        )
        const error = await failure(client.call('echo'))
        expect(error.message).toContain('red')
        expect(error.message).not.toMatch(RAW)
        expect(String(error)).not.toMatch(RAW)
        await client.close()
      }
    }
  },
)

test.each(WAYS)(
  'C.ansi the failure of a tool is told without escapes, and its result is left as it came, over %s',
  async (way) => {
    const content = [{ type: 'text', text: `first\n${EVIL}` }]
    const { client } = await meet(way, ({ method }, wire) =>
      method === 'tools/call' ? wire.reply({ content, isError: true }) : false,
    )
    const error = await failure(client.call('echo'))
    expect(error).toBeInstanceOf(ToolError)
    expect(error.message).toContain('first\n')
    expect(error.message).not.toMatch(RAW_IN_LINES)
    expect((await client.callRaw('echo')).content).toEqual(content)
  },
)

test.each(WAYS)(
  'C.ansi names, types and versions of the server in our messages are told without escapes, over %s',
  async (way) => {
    const messages: string[] = []
    const { client, warnings } = await meet(
      way,
      ({ id, method, params }, wire) => {
        if (method === 'tools/list')
          return wire.reply({
            tools: [
              tool(`bad${EVIL}`, {
                inputSchema: {
                  type: 'object',
                  properties: { [EVIL]: { type: 'string', 'x-mcp-header': `x${EVIL}` } },
                } as never,
              }),
              tool(`shape${EVIL}`, {
                outputSchema: {
                  type: 'object',
                  required: [EVIL],
                  properties: { [EVIL]: { type: 'string' } },
                } as never,
              }),
            ],
          })
        if (method === 'prompts/list') return wire.reply({ prompts: [], nextCursor: { [EVIL]: 1 } })
        if (method !== 'tools/call') return false
        if (params['name'] === 'type') return wire.reply({ resultType: EVIL, content: [] })
        if (params['name'] === 'ask')
          return wire.reply({ resultType: 'input_required', inputRequests: { [EVIL]: { method: EVIL } } })
        if (params['name'] === 'mode')
          return wire.reply({
            resultType: 'input_required',
            inputRequests: { a: { method: 'elicitation/create', params: { mode: EVIL } } },
          })
        if (params['name'] === 'id')
          return wire.send(
            `{"jsonrpc":"2.0","id":${id},"result":{"${JSON.stringify(EVIL).slice(1, -1)}":1,"${JSON.stringify(EVIL).slice(1, -1)}":2}}`,
          )
        return wire.reply({ content: [], structuredContent: { [EVIL]: 7, other: EVIL } })
      },
      { answers: { elicit: () => ({ action: 'decline' }) } },
    )
    await all(client.tools())
    for (const name of ['type', 'ask', 'mode', 'id', `shape${EVIL}`])
      messages.push((await failure(client.call(name))).message)
    messages.push((await failure(all(client.prompts()))).message)
    expect(messages.every((message) => message.length < 2000)).toBe(true)
    for (const words of [...messages, ...warnings]) expect(words).not.toMatch(RAW)
  },
)

test.each(WAYS)('C.ansi escapes are removed from a version, over %s', async (way) => {
  const target = await serve(way, ({ id }, wire) =>
    id === undefined
      ? undefined
      : wire.reply({ protocolVersion: EVIL, capabilities: {}, serverInfo: { name: EVIL, version: EVIL } }),
  )
  const error = await failure(connect(target, { timeout: 1000, revision: EARLIER }))
  expect(error).toMatchObject({ kind: 'no_revision' })
  expect(error.message).not.toMatch(RAW)
})

test('C.ansi escapes are removed from unexpected output of a server program', async () => {
  const script = `
    process.stderr.write(${JSON.stringify(`${EVIL}\n`)})
    process.stdout.write(${JSON.stringify(`${EVIL}\n{"jsonrpc":"2.0","error":{"code":-32700,"message":${JSON.stringify(EVIL)}}}\n`)})
    setTimeout(() => { process.stderr.write(${JSON.stringify(EVIL)}); process.exit(3) }, 50)`
  const error = await failure(
    connect({ command: process.execPath, args: ['-e', script] }, { timeout: 2000, probe: 2000 }),
  )
  expect(error).toMatchObject({ name: 'McpError' })
  expect(error.message).not.toMatch(RAW)

  const told: string[] = []
  const { client } = await meet('stdio', ({ method }, wire) => {
    if (method === 'tools/call') wire.send(`${EVIL}`)
    if (method === 'tools/call') wire.send({ jsonrpc: '2.0', error: { code: -32700, message: EVIL } })
    return false
  })
  for (const kind of ['warning', 'stderr'] as const) client.on(kind, (words) => told.push(words))
  // An error without an id belongs to the only request that waits.
  expect((await failure(client.call('echo'))).message).not.toMatch(RAW)
  expect(told.length).toBeGreaterThan(0)
  for (const words of told) expect(words).not.toMatch(RAW)
})

test('C.ansi escapes are removed from statuses, types and redirects of a web server', async () => {
  const odd = [
    { status: 307, headers: { location: `/%1b[31m?${encodeURIComponent(EVIL)}` } },
    { status: 200, headers: { 'content-type': 'text/\u009b31m' } },
    { status: 401, headers: { 'www-authenticate': 'Bearer x="\u009b31m"' } },
    { status: 500, headers: { 'content-type': 'application/json' } },
  ]
  for (const { status, headers } of odd) {
    const network = await web((_, response) => {
      response.writeHead(status, headers)
      response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32603, message: EVIL } }))
    })
    const error = await failure(connect(network.url, { timeout: 1000 }))
    expect(error).toMatchObject({ name: 'McpError' })
    expect(error.message).not.toMatch(RAW)
  }
})

test('C.ansi escapes are removed from the error of a watch', async () => {
  const { client } = await meet(
    'memory',
    ({ id, method }, wire) =>
      method === 'resources/subscribe'
        ? wire.send({ jsonrpc: '2.0', id, error: { code: 7, message: EVIL } })
        : false,
    { speaks: EARLIER },
  )
  const error = await client.subscribe('note://one', () => undefined).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Error)
  expect(String(error)).not.toMatch(RAW)
})
