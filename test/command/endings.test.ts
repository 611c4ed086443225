import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { createServer } from 'pierhead'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../../src/cli/cli.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { DevLog } from '../../src/cli/dev/events.ts'
import { Interruption, type Io } from '../../src/cli/io.ts'
import { Output } from '../../src/cli/output.ts'
import { answering } from './answering.ts'
import { COMMAND, line } from './line.ts'

function folder(): string {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-endings-')))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  return cwd
}

/** A server with a tool that never ends; `called` resolves when it was called. */
async function slowServer(): Promise<{ readonly url: string; readonly called: Promise<void> }> {
  let onCall: () => void = () => undefined
  const called = new Promise<void>((resolve) => (onCall = resolve))
  const app = createServer({ name: 'slow', version: '1.0.0', log: () => undefined, limits: { drainMs: 1 } })
  app.tool('sleep', {}, () => {
    onCall()
    return new Promise<string>(() => undefined)
  })
  const { url = '' } = await app.listen({ http: { port: 0 } })
  onTestFinished(() => app.close())
  return { url, called }
}

describe('--total', () => {
  it.each([[['call', 'sleep']], [['doctor', '--verbose']]])('ends %j', async ([name = '', ...words]) => {
    const end = name === 'doctor' ? silent() : [(await slowServer()).url, ...words]
    const { code, stdout, stderr } = await line([name, '--total', '700ms', ...end])
    expect(stderr).toContain('the command was not done in 700ms')
    expect(JSON.parse(stdout)).toMatchObject({ error: { exit: 7 } })
    expect(code).toBe(7)
    // What the doctor found before is not lost.
    const { findings = [{ level: 'ok' }] } = JSON.parse(stdout) as { findings?: readonly { level: string }[] }
    expect(findings[0]?.level).toMatch(/^(?:ok|advice)$/)
  })

  it('ends watch as planned', async () => {
    const { url } = await slowServer()
    const { code, stdout, stderr } = await line(['watch', '--total', '700ms', url])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).not.toContain('error')
    expect((await line(['watch', '--total', '700ms', ...silent()])).code).toBe(7)
  })

  it('is one deadline for all requests of a command', async () => {
    // Each ping takes less than the total, and all of them more.
    const args = ['ping', '--count', '30', '--total', '2s', '--env', 'DELAY=100', ...answering({ ping: {} })]
    const { code } = await line(args)
    expect(code).toBe(7)
  })
})

/** A program that answers nothing. */
function silent(): readonly string[] {
  return ['--', process.execPath, '-e', 'process.stdin.resume()']
}

describe('an interruption', () => {
  it('ends a call that waits for stdin', async () => {
    const controller = new AbortController()
    const stdin = new PassThrough()
    let stderr = ''
    const sink = (add: (text: string) => void): Io['stdout'] => ({
      write(text, done) {
        add(text)
        done?.()
        return true
      },
    })
    const schema = { type: 'object' }
    const io: Io = {
      stdin,
      stdout: sink(() => undefined),
      stderr: sink((text) => (stderr += text)),
      env: { PATH: process.env['PATH'] ?? '' },
      cwd: process.cwd(),
      signal: controller.signal,
    }
    // The command listens to stdin only when it waits for it.
    stdin.once('newListener', () => setImmediate(() => controller.abort(new Interruption('SIGINT'))))
    const end = answering({ 'tools/list': { tools: [{ name: 'x', inputSchema: schema }] } })
    expect(await runCli(['call', 'x', '-', ...end], io, COMMANDS)).toBe(130)
    expect(stderr).toBe('')
  })

  it.each([
    ['SIGTERM', 143, 'ended by SIGTERM'],
    ['SIGINT', 130, 'interrupted with Ctrl-C'],
  ] as const)('with %s ends with %i', async (signal, code, message) => {
    const { url, called } = await slowServer()
    const child = spawn(process.execPath, [...COMMAND, 'call', url, 'sleep', '--verbose'], {
      env: { ...process.env, NO_COLOR: '1' },
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    await called
    child.kill(signal)
    const ended = await new Promise((resolve) => child.on('close', resolve))
    expect(ended).toBe(code)
    expect(JSON.parse(stdout)).toEqual({ error: { message, exit: code } })
  })
})

describe('--verbose', () => {
  it('shows the cause of an error as it is, without what a terminal would obey', async () => {
    const { code, stderr } = await line(['list', '--verbose', '--', 'no-such\u001b[31m'])
    expect(code).toBe(4)
    expect(stderr).toMatch(/^McpError: cannot connect to the command "no-such\\u001b\[31m":/m)
    expect(stderr).toMatch(/^ +at /m)
  })
})

describe('secrets that a server repeats', () => {
  it.each([[['list']], [['list', '--verbose']], [['doctor']]])('are not printed by %j', async (words) => {
    const results = { 'prompts/list': { prompts: [] } }
    for (const terminal of [true, false]) {
      const { code, stdout, stderr } = await line(
        [...words, '--env', 'SECRET=hush-hush-1', ...answering(results)],
        { terminal },
      )
      expect(code).not.toBe(0)
      expect(stdout + stderr).toContain('***')
      expect(stdout + stderr).not.toContain('hush')
    }
  })

  it.each([
    [{ env: { PIERHEAD_TOKEN: 'hush-hush-2' } }, []],
    [{}, ['--header', 'Authorization: Bearer hush-hush-2']],
    [{}, ['--header', 'X-Key: hush-hush-2']],
  ])('are not printed if they came with %j %j', async (options, more) => {
    const app = createServer({ name: 'echo', version: '1.0.0', log: () => undefined })
    app.resource('note://a', { name: 'note' }, () => 'a')
    const { url = '' } = await app.listen({ http: { port: 0 } })
    onTestFinished(() => app.close())
    const { code, stdout, stderr } = await line(['read', url, 'note://hush-hush-2', ...more], options)
    expect(code).toBe(6)
    expect(stdout + stderr).toContain('note://***')
    expect(stdout + stderr).not.toContain('hush')
  })

  it('are not printed if they came from a configuration', async () => {
    const cwd = folder()
    const [, command, ...args] = answering({})
    const env = { SECRET: 'hush-hush-3', API_KEY: 'hush-hush-3', MODE: 'method' }
    writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers: { n: { command, args, env } } }))
    const { code, stderr } = await line(['list', 'n'], { cwd })
    expect(code).toBe(6)
    expect(stderr).not.toContain('hush')
  })

  const ARGS = ['--api-key', 'hush-hush-4', 'token=hush-hush-5', '--config={"password":"hush-hush-6"}']
  const URLS = ['--db=postgres://u:hush-hush-7@h/d', 'https://h/?k=hush-hush-8', '-H', 'X-Team: hush-hush-9']

  it.each([[['--verbose']], [[]]])(
    'are not printed if they are arguments of a program, with %j',
    async (more) => {
      const cwd = folder()
      const script = `const given = process.argv.slice(2).join(' ')
        console.error(given)
        require('node:readline').createInterface({ input: process.stdin }).on('line', (text) => {
          const { id } = JSON.parse(text)
          const error = { code: -32000, message: 'no ' + given }
          if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error }))
        })`
      writeFileSync(join(cwd, 'srv.cjs'), script)
      const args = [join(cwd, 'srv.cjs'), ...ARGS, ...URLS]
      const config = { mcpServers: { n: { command: process.execPath, args } } }
      writeFileSync(join(cwd, 'mcp.json'), JSON.stringify(config))
      for (const target of [['n'], ['--', process.execPath, ...args]]) {
        const { code, stdout, stderr } = await line(['list', ...more, ...target], { cwd })
        expect(code).not.toBe(0)
        expect(stderr).toContain('--api-key ***')
        expect(stdout + stderr).not.toContain('hush')
      }
    },
  )

  it('are not printed if they are in a URL', async () => {
    const echo = createHttpServer((request, response) => {
      const message = `no ${decodeURIComponent(request.url ?? '')} ${request.url}`
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }))
    })
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void echo.close())
    const { port } = echo.address() as AddressInfo
    const { code, stdout, stderr } = await line(['list', `http://127.0.0.1:${port}/mcp?k=hush%20hush`])
    expect(code).not.toBe(0)
    expect(stdout + stderr).toContain('***')
    expect(stdout + stderr).not.toContain('hush')
  })

  it('are not in the events of dev', () => {
    let text = ''
    const stdout = { write: (more: string) => (text += more) !== '' }
    const io = { stdout, stderr: stdout, env: {}, stdin: new PassThrough() } as unknown as Io
    const log = new DevLog(io, new Output(io, { json: true }), { isStdio: false, json: true, root: '/' })
    const target = 'https://u:hush@example.com/?key=hush'
    log.add({ event: 'call', method: 'resources/read', target, outcome: 'result', ms: 1 })
    expect(JSON.parse(text).target).toBe('https://***@example.com/?key=***')
  })
})

describe('a store that cannot be used', () => {
  it.each(['redis://127.0.0.1:1', 'postgres://u:hush@127.0.0.1:1/d'])('ends with 4: %s', async (store) => {
    const { code, stderr } = await line(['tasks', 'list', '--store', store, '--name', 'films'])
    expect(stderr).toContain('error: ')
    expect(stderr).not.toContain('hush')
    expect(code).toBe(4)
  })
})

describe('watch', () => {
  it('shows reconnects as notes, and counts only changes', async () => {
    const cwd = folder()
    mkdirSync(join(cwd, 'state'))
    const file = join(cwd, 'crashing.mjs')
    // It crashes twice after it was asked, and then reports a change.
    writeFileSync(
      file,
      `import { createInterface } from 'node:readline'
import { mkdirSync, readdirSync } from 'node:fs'
const starts = readdirSync('state').length
mkdirSync('state/' + starts)
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
createInterface({ input: process.stdin }).on('line', (text) => {
  const { id, method } = JSON.parse(text)
  if (method === 'initialize')
    send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'c', version: '1' } } })
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } })
  else if (method === 'notifications/initialized')
    setTimeout(() => {
      if (starts < 2) process.exit(1)
      setInterval(() => send({ method: 'notifications/tools/list_changed' }), 100)
    }, 100)
})`,
    )
    const { code, stdout, stderr } = await line(['watch', '--count', '1', '--', process.execPath, file], {
      cwd,
    })
    expect(code).toBe(0)
    const events = stdout
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one))
    expect(events.filter(({ kind }) => kind !== 'reconnected')).toEqual([{ kind: 'tools' }])
    expect(stderr).toContain('connected again')
  })
})
