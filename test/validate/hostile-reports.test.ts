import { createServer } from 'node:http'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { masked } from '../../src/validate/mask.ts'
import { FORMATS } from '../../src/validate/report-formats.ts'
import { line } from '../command/line.ts'

const TOKEN = 'tok-SECRET-"123456789'
const HEADER = 'hdr-SECRET-987654321'
const SHORT = 'q7z'
const EVIL =
  '\u009b31m \u001b[31m \u202e\u200b\u2028 <b> ]]> "\'&\n::error::pwn\r\n::set-env name=A::b\n✗ R001 forged'

let cwd = ''
let url = ''
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.on('end', () => {
    const message = parsedOr(body)
    const { authorization, 'x-auth': auth } = request.headers
    const text = `${EVIL} you sent ${authorization} ${String(auth)}`
    response.setHeader('content-type', 'application/json')
    response.setHeader('x-echo', encodeURIComponent(String(auth)))
    const { id = null, method, params } = message
    if (method === 'initialize' && params?.protocolVersion === '2025-11-25')
      return response.end(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          result: {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: text, version: '1' },
          },
        }),
      )
    if (method === undefined || method === 'initialize' || method === 'server/discover')
      return response.writeHead(400).end()
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: text, message: text } }))
  })
})

interface Asked {
  readonly id?: unknown
  readonly method?: string
  readonly params?: { readonly protocolVersion?: string }
}

function parsedOr(text: string): Asked {
  try {
    return JSON.parse(text) as Asked
  } catch {
    return {}
  }
}

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'pierhead-validate-'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(cwd, { recursive: true })
})

const OUTPUTS: readonly (readonly string[])[] = [
  ['--no-json'],
  ['--json'],
  ...FORMATS.map((format) => ['--format', format]),
  ['--no-json', '--report', 'page.html'],
]

describe.each(OUTPUTS)('validate %s %s', (...options) => {
  let shown = ''
  beforeAll(async () => {
    const rules = ['R005', 'R010', 'R011'].flatMap((id) => ['--rule', id])
    const headers = ['-H', `X-Auth: ${HEADER}`, '-H', `X-Short: ${SHORT}`]
    const args = ['validate', url, '--target', '2025-11', ...rules, ...headers, ...options]
    const { stdout, stderr } = await line(args, { cwd, env: { PIERHEAD_TOKEN: TOKEN } })
    shown =
      stdout + stderr + (options.includes('--report') ? readFileSync(join(cwd, 'page.html'), 'utf8') : '')
  })

  test('shows no secret of the caller', () => {
    expect(shown).toContain('R010')
    for (const secret of [TOKEN, JSON.stringify(TOKEN).slice(1, -1), HEADER, SHORT, '123456789', 'SECRET'])
      expect(shown).not.toContain(secret)
  })

  test('shows no characters that change what people see', () => {
    expect(shown).not.toMatch(/(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  })

  test('lets the server write no lines of its own', () => {
    expect(shown).not.toMatch(/^\s*(?:::error::pwn|::set-env|✗ R001)/m)
  })
})

test('parts of secrets at the end of a text that was cut off are hidden too', () => {
  const mask = masked(['tok-SECRET-123456789'])
  expect(mask('a tok-SECRET-123456789 b')).toBe('a *** b')
  expect(mask('{"a":"tok-SECRET-1234 …')).toBe('{"a":"*** …')
  expect(mask('tok-SECRtok-SECRET-123456789')).toBe('tok-SECR***')
  expect(mask('the word tok-SE stays')).toBe('the word tok-SE stays')
})

test('a secret is found as JSON and URLs write it', () => {
  const mask = masked(['a"b\\c/d é%'])
  expect(mask(`${JSON.stringify('a"b\\c/d é%')} ${encodeURIComponent('a"b\\c/d é%')}`)).toBe('"***" ***')
})
