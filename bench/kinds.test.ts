import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { build } from '../tools/build.ts'
import { compile, startHttp } from './children.ts'
import { ASYNC, CONTENT, type HandlerKind, KINDS, SOCKET, TEXT } from './kinds.ts'
import { loadHttp } from './load/http.ts'
import { Pipe } from './load/stdio.ts'
import type { Revision } from './messages.ts'
import { ALL, AT_2026, LIMIT, OURS, type Subject, argumentOf, programOf } from './subjects.ts'
import { Pool } from './workloads/pool.ts'

const CALLS = 200
const PEERS = ALL.filter(({ role }) => role === 'peer')

beforeAll(async () => {
  if (!existsSync('dist/index.js')) await build()
  await compile()
}, 120_000)

/** The subjects are plain JavaScript. */
interface Handlers {
  handlerOf(
    kind: HandlerKind['handler'],
  ): Promise<(input: { readonly a: number; readonly b: number }) => unknown>
}
const { handlerOf } = (await import(new URL('subjects/handlers.mjs', import.meta.url).href)) as Handlers

describe('the handler', () => {
  test('of the kind text is synchronous and returns a string', async () => {
    expect((await handlerOf(TEXT.handler))({ a: 1, b: 2 })).toBe('3')
  })

  test('of the kind content is synchronous and returns a content object', async () => {
    expect((await handlerOf(CONTENT.handler))({ a: 1, b: 2 })).toEqual(contentOf('3'))
  })

  test.each([ASYNC, SOCKET])('of the kind $handler returns a promise of a content object', async (kind) => {
    const result = (await handlerOf(kind.handler))({ a: 1, b: 2 })
    expect(result).toBeInstanceOf(Promise)
    expect(await result).toEqual(contentOf('3'))
  })

  test('that awaits a socket answers calls in flight with their own sums', async () => {
    const add = await handlerOf(SOCKET.handler)
    const sums = await Promise.all(Array.from({ length: 300 }, (_, a) => add({ a, b: 1000 })))
    expect(sums).toEqual(Array.from({ length: 300 }, (_, a) => contentOf(String(a + 1000))))
  })

  test('that awaits a socket is not done before the event loop has turned', async () => {
    let turned = false
    const result = (await handlerOf(SOCKET.handler))({ a: 1, b: 2 })
    setImmediate(() => (turned = true))
    await result
    expect(turned).toBe(true)
  })

  test('of an unknown kind is an error', async () => {
    await expect(handlerOf('other' as never)).rejects.toThrow('there is no handler of the kind other')
  })
})

describe('every answer of a subject is right', () => {
  test.each(everyPair(ALL, KINDS))('in process: $subject.name, $kind.handler', async ({ subject, kind }) => {
    expect(await callInProcess(subject, kind, '2025-11-25')).toBeGreaterThanOrEqual(CALLS)
  })

  test.each(everyPair(AT_2026, [SOCKET]))(
    'in process at 2026-07-28: $subject.name, $kind.handler',
    async ({ subject, kind }) => {
      expect(await callInProcess(subject, kind, '2026-07-28')).toBeGreaterThanOrEqual(CALLS)
    },
  )

  const overWire = [...everyPair([LIMIT], KINDS), ...everyPair([OURS, ...PEERS], [SOCKET])]

  test.each(overWire)('over HTTP: $subject.name, $kind.handler', async ({ subject, kind }) => {
    runFromSource(subject)
    const options = argumentOf(subject, { handler: kind.handler })
    const server = await startHttp(programOf(subject, 'http'), options)
    onTestFinished(() => server.close())
    const { port, pid } = server
    const target = { port, pid, work: 'call', revision: '2025-11-25', connections: 4 } as const
    const { count } = await loadHttp(target, { calls: CALLS })
    expect(count).toBeGreaterThanOrEqual(CALLS)
  })

  test.each(overWire)('over stdio: $subject.name, $kind.handler', async ({ subject, kind }) => {
    runFromSource(subject)
    const options = argumentOf(subject, { handler: kind.handler })
    const { pipe } = await Pipe.open(programOf(subject, 'stdio'), options)
    onTestFinished(() => pipe.close())
    const { count } = await pipe.load(16, { calls: CALLS })
    expect(count).toBeGreaterThanOrEqual(CALLS)
  })
})

async function callInProcess(
  subject: Subject,
  { handler }: HandlerKind,
  revision: Revision,
): Promise<number> {
  runFromSource(subject)
  const pool = new Pool(revision, { handler })
  onTestFinished(() => pool.close())
  await pool.open(subject)
  return (await pool.call(subject, { calls: CALLS })).count
}

/** Our subject imports the built package, which a test cannot rely on. */
function runFromSource(subject: Subject): void {
  if (subject !== OURS) return
  vi.stubEnv('NODE_OPTIONS', '--import tsx --conditions=pierhead-source')
  onTestFinished(() => void vi.unstubAllEnvs())
}

function everyPair(
  subjects: readonly Subject[],
  kinds: readonly HandlerKind[],
): { readonly subject: Subject; readonly kind: HandlerKind }[] {
  return subjects.flatMap((subject) => kinds.map((kind) => ({ subject, kind })))
}

function contentOf(text: string): object {
  return { content: [{ type: 'text', text }] }
}
