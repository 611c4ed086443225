import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Fault } from '../validate/fault.ts'
import { faultyDoor, serveEverywhere, type Served } from '../validate/faulty-door.ts'
import { faultyHttp } from '../validate/faulty-http.ts'
import { createFixture } from '../validate/fixture.ts'
import type { Report } from '../../src/validate/result.ts'
import { createServer } from '../../src/index.ts'
import { line } from './line.ts'

let served: Served
let cwd = ''

beforeAll(async () => {
  served = await serveEverywhere(createFixture())
  cwd = mkdtempSync(join(tmpdir(), 'pierhead-validate-'))
})
afterAll(async () => {
  rmSync(cwd, { recursive: true })
  await served.close()
})

test.each([
  [['tcp://127.0.0.1:1', '--framing', 'bogus'], '--framing'],
  [['http://127.0.0.1:1/mcp', '--framing', 'lines'], '--framing applies only to sockets'],
  [['tcp://127.0.0.1:1', '-H', 'x: y'], '--header applies only to http://'],
  [['http://127.0.0.1:1/mcp', '-e', 'A=b'], '--env applies only to programs'],
  [['http://127.0.0.1:1/mcp', '--inherit', 'all'], '--inherit applies only to programs'],
  [['--client', '--latency', 'nonsense', '--', 'true'], '--latency is for servers'],
  [['--client', '--timeout', '1ms', '--', 'true'], '--timeout is for servers'],
  [['--client', '-H', 'x: y', '--', 'true'], '--header is for servers'],
  [['--client', '--framing', 'lines', '--', 'true'], '--framing is for servers'],
])('options that would do nothing are rejected: %j', async (args, message) => {
  const { code, stderr } = await line(['validate', ...args], { cwd })
  expect(code).toBe(2)
  expect(stderr).toContain(message)
})

test('a rule that does not apply is named, and the others are checked', async () => {
  const url = String(served.addresses.http)
  const args = ['validate', url, '--target', '2025-11', '--rule', 'R005', '--rule', 'R999']
  const { code, stdout, stderr } = await line(args, { cwd })
  expect(code).toBe(0)
  expect((JSON.parse(stdout) as Report).outcomes.map(({ id }) => id)).toEqual(['R005'])
  expect(stderr).toContain('--rule R999 does nothing')
  expect(stderr).not.toContain('R005')
})

test('a server with length prefixes is checked too', async () => {
  const app = createServer({ name: 'framed', version: '1.0.0' })
  app.tool('echo', { description: 'Echoes' }, () => 'x'.repeat(100_000))
  const running = await app.listen({ tcp: { port: 0, host: '127.0.0.1', framing: 'length-prefix' } })
  onTestFinished(() => running.close())
  const target = [String(running.addresses.tcp), '--target', '2025-11', '--allow-calls']
  const { code, stdout } = await line(['validate', ...target, '--framing', 'length-prefix'], { cwd })
  const { outcomes, counts } = JSON.parse(stdout) as Report
  expect(outcomes.filter(({ is }) => is === 'failed').map(({ id, found }) => `${id} ${found ?? ''}`)).toEqual(
    [],
  )
  expect(counts.passed).toBeGreaterThan(20)
  expect(code).toBe(0)
  expect(outcomes.find(({ id }) => id === 'R142')?.is).toBe('passed')
})

test('a revision that Streamable HTTP does not have is explained', async () => {
  const app = createServer({ name: 'plain', version: '1.0.0' })
  const running = await app.listen({ http: { port: 0, host: '127.0.0.1' } })
  onTestFinished(() => running.close())
  const { code, stderr } = await line(['validate', String(running.url), '--target', '2024-11'], { cwd })
  expect(code).toBe(4)
  expect(stderr).toContain('Streamable HTTP begins with 2025-03-26')
})

test.each([
  [
    'an event of another type',
    { message: (block: string) => block.replace('event: endpoint', 'event: address') },
  ],
  [
    'another origin',
    { message: (block: string) => block.replace(/data: .*/, 'data: http://other.example/m') },
  ],
])('a stream of 2024-11-05 that names no place for messages fails: %s', async (_what, { message }) => {
  const http: Fault['http'] = async (_request, next) => {
    const reply = await next()
    if (reply.body === null || typeof reply.body === 'string') return reply
    const [decoder, encoder] = [new TextDecoder(), new TextEncoder()]
    const changed = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => controller.enqueue(encoder.encode(message(decoder.decode(chunk)))),
    })
    return { ...reply, body: reply.body.pipeThrough(changed) }
  }
  const { door, close } = await faultyDoor(served, 'sse', { rule: '', does: '', http })
  onTestFinished(() => close())
  const args = ['validate', '--target', '2024-11', String(door.url), '--rule', 'V001', '--rule', 'R099']
  const { code, stdout } = await line([...args, '--format', 'json'], { cwd })
  expect(code).toBe(8)
  const { outcomes } = JSON.parse(stdout) as Report
  expect(outcomes.map(({ id, is }) => `${id} ${is}`)).toContain('R099 failed')
})

test.each(['missing/report.html', '.'])('--report %s is rejected before the run', async (file) => {
  let requests = 0
  const server = await faultyHttp(served.addresses.http, {
    rule: '',
    does: '',
    http: (_request, next) => {
      requests++
      return next()
    },
  })
  onTestFinished(() => server.close())
  const args = ['validate', String(server.url), '--rule', 'V001', '--report', file]
  const { code, stderr } = await line(args, { cwd })
  expect(code).toBe(1)
  expect(requests).toBe(0)
  expect(stderr).toContain(`the report could not be written to ${file}`)
})

test('--report does not follow a link out of its folder, but one within it', async () => {
  const folder = join(cwd, 'links')
  mkdirSync(folder)
  writeFileSync(join(cwd, 'own.txt'), 'mine')
  symlinkSync(join(cwd, 'own.txt'), join(folder, 'out.html'))
  symlinkSync(join(cwd, 'new.txt'), join(folder, 'nowhere.html'))
  writeFileSync(join(folder, 'latest.html'), '')
  symlinkSync('latest.html', join(folder, 'in.html'))
  const args = (file: string): readonly string[] => [
    'validate',
    String(served.addresses.http),
    '--target',
    '2025-11-25',
    '--rule',
    'V001',
    '--report',
    join(folder, file),
  ]
  const out = await line(args('out.html'), { cwd })
  expect(out.code).toBe(1)
  expect(out.stderr).toContain('leads out of its folder')
  expect(readFileSync(join(cwd, 'own.txt'), 'utf8')).toBe('mine')
  expect((await line(args('nowhere.html'), { cwd })).code).toBe(1)
  expect(existsSync(join(cwd, 'new.txt'))).toBe(false)
  expect((await line(args('in.html'), { cwd })).code).toBe(0)
  expect(readFileSync(join(folder, 'latest.html'), 'utf8')).toContain('<html')
})
