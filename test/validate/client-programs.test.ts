import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { argumentsOf, programClient } from '../../src/validate/client/program.ts'
import { validateClient } from '../../src/validate/client-run.ts'
import { ClientSubject } from '../../src/validate/client-subject.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Transport } from '../../src/validate/rule.ts'
import type { ServerRun } from '../../src/validate/server-run.ts'

const V1 = join(import.meta.dirname, 'programs', 'v1-client.mjs')
const V2 = join(import.meta.dirname, 'programs', 'v2-client.mjs')
const { signal } = new AbortController()
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'validated-client-'))
})
afterAll(() => rm(folder, { recursive: true }))

interface Check {
  readonly transport: Transport
  readonly revision: Revision
  readonly only: readonly string[]
}

function validate(args: readonly string[], { transport, revision, only }: Check): Promise<ServerRun> {
  return validateClient({
    client: programClient({ command: process.execPath, args }),
    transports: [transport],
    revisions: [revision],
    only,
    until: performance.now() + 30_000,
    signal,
  })
}

/** Writes a program, and returns its path. */
async function program(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

function verdicts({ outcomes }: ServerRun): readonly string[] {
  return outcomes.map(({ id, is }) => `${id} ${is}`)
}

test('the address replaces {url} and {command}, and is otherwise the last argument', () => {
  const http = { transport: 'http', url: 'http://127.0.0.1:1/mcp' } as const
  expect(argumentsOf(['a'], http)).toEqual(['a', http.url])
  expect(argumentsOf(['--to={url}', 'b'], http)).toEqual([`--to=${http.url}`, 'b'])
  const stdio = { transport: 'stdio', command: ['node', 'x y.mjs'] } as const
  expect(argumentsOf(['a'], stdio)).toEqual(['a', 'node', 'x y.mjs'])
  expect(argumentsOf(['{command}', 'b'], stdio)).toEqual(['node', 'x y.mjs', 'b'])
})

test.each([
  { program: V1, transport: 'http', revision: '2025-11-25' },
  { program: V1, transport: 'stdio', revision: '2024-11-05' },
  { program: V2, transport: 'http', revision: '2026-07-28' },
  { program: V2, transport: 'stdio', revision: '2025-06-18' },
] as const)(
  'an official client follows the rules of its messages at $revision on $transport',
  async ({ program: path, ...place }) => {
    const run = await validate([path], { ...place, only: ['R001', 'R002', 'R035', 'R040', 'R042', 'R062'] })
    expect(run.places).toMatchObject([{ transport: place.transport, revisions: [place.revision] }])
    expect(run.outcomes.length).toBeGreaterThan(2)
    expect(verdicts(run).filter((one) => !one.endsWith(' passed'))).toEqual([])
  },
  30_000,
)

test.each([
  { program: V1, revision: '2025-11-25' },
  { program: V2, revision: '2026-07-28' },
] as const)(
  'an official client that logs in without a person is checked at $revision',
  async ({ program: path, revision }) => {
    const only = ['R271', 'R275', 'R276', 'R278', 'R284', 'R285', 'R288']
    const run = await validate([path], { transport: 'http', revision, only })
    expect(run.outcomes.length).toBeGreaterThan(4)
    expect(verdicts(run).filter((one) => !one.endsWith(' passed'))).toEqual([])
  },
  60_000,
)

test('a client that never connects is no client, and its last words are in the report', async () => {
  const path = await program('silent.mjs', `console.error('I do not know this argument'); process.exit(3)`)
  const { outcomes, places } = await validate([path], { transport: 'http', revision: '2025-11-25', only: [] })
  expect(outcomes).toEqual([])
  expect(places).toMatchObject([
    { revisions: [], problem: 'the client sent nothing: exited with code 3: I do not know this argument' },
  ])
})

test('a client that does not accept the revision of the server is not checked at it', async () => {
  const path = await program(
    'picky.mjs',
    `const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } })
     await fetch(process.argv[2], { method: 'POST', body })`,
  )
  const run = await validate([path], { transport: 'http', revision: '2025-03-26', only: ['R030'] })
  expect(run.outcomes).toEqual([])
  expect(run.places).toMatchObject([{ problem: 'the client accepts no revision that was asked for' }])
})

test('a client that hangs, ignores SIGTERM and floods its output is ended', async () => {
  const path = await program(
    'hanging.mjs',
    `process.on('SIGTERM', () => undefined)
     const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } })
     await fetch(process.argv[2], { method: 'POST', body, headers: { 'x-pid': String(process.pid) } })
     setInterval(() => { process.stdout.write('x'.repeat(100_000)); process.stderr.write('y'.repeat(100_000)) }, 1)`,
  )
  const subject = new ClientSubject({
    client: programClient({ command: process.execPath, args: [path] }),
    revision: '2025-11-25',
    transport: 'http',
    signal,
    quietMs: 200,
  })
  const visit = await subject.usual()
  expect(visit.hasLeft).toBe(false)
  expect(visit.ending).toBe('it sent nothing for 0.2 s, and did not end')
  const pid = Number(visit.seen[0]?.http?.headers['x-pid'])
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
}, 20_000)

test('a run ends when its time is over, and what is left is not checked', async () => {
  const path = await program(
    'endless-greeting.mjs',
    `const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } })
     for (;;) await fetch(process.argv[2], { method: 'POST', body }).then((reply) => reply.text()).catch(() => process.exit(0))`,
  )
  const { outcomes, places } = await validateClient({
    client: programClient({ command: process.execPath, args: [path] }),
    transports: ['http', 'ws'],
    until: performance.now() + 2_000,
    signal,
  })
  expect(places.map(({ transport }) => transport)).toEqual(['http', 'ws'])
  expect(outcomes.filter(({ is }) => is === 'failed')).toEqual([])
}, 20_000)

test('a client that sends without end is ended', async () => {
  const path = await program(
    'endless.mjs',
    `const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(2_000_000) } })
     for (;;) await fetch(process.argv[2], { method: 'POST', body }).then((reply) => reply.text()).catch(() => undefined)`,
  )
  const subject = new ClientSubject({
    client: programClient({ command: process.execPath, args: [path] }),
    revision: '2025-11-25',
    transport: 'http',
    signal,
  })
  expect((await subject.usual()).ending).toBe('it sent too much')
}, 20_000)

test('a program that is not there is an error', async () => {
  const client = programClient({ command: 'no-such-client-of-anybody' })
  const subject = new ClientSubject({ client, revision: '2025-11-25', transport: 'http', signal })
  await expect(subject.usual()).rejects.toThrow(/no-such-client-of-anybody/)
})
