import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CALL_ROWS, nameOf, titleOf } from '../call-rows.ts'
import { type HttpServer, startHttp } from '../children.ts'
import { post, postInSession } from '../load/http.ts'
import type { Plan, Sample, Workload } from '../measure.ts'
import type { HandlerKind } from '../kinds.ts'
import { type Revision, numbered, progressText } from '../messages.ts'
import {
  ALL,
  AT_2026,
  LIMIT,
  OURS,
  type Subject,
  argumentOf,
  selectSubjects,
  programOf,
} from '../subjects.ts'
import { CONNECTIONS, type CallSetup, loadAll, toSamples } from './http.ts'

/** HTTP tools/call answered as an event stream with one progress event, with one 2025 session per connection. */
export function eventsSession(kind: HandlerKind): Workload {
  const setup = { row: CALL_ROWS.eventsSession, revision: '2025-11-25', subjects: ALL, kind } as const
  return { name: nameOf(setup.row, kind), run: (plan, log) => measureEvents(setup, plan, log) }
}

/** The same at 2026-07-28. */
export function events2026(kind: HandlerKind): Workload {
  const setup = { row: CALL_ROWS.events2026, revision: '2026-07-28', subjects: AT_2026, kind } as const
  return { name: nameOf(setup.row, kind), run: (plan, log) => measureEvents(setup, plan, log) }
}

const WRITER: Subject = { ...LIMIT, file: 'limit-events' }

async function measureEvents(
  { row, revision, subjects, kind }: CallSetup,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const servers = new Map<Subject, HttpServer>()
  try {
    const start = (subject: Subject, more: object): Promise<HttpServer> =>
      startHttp(programOf(subject, 'http'), argumentOf(subject, { handler: kind.handler, ...more }))
    const ours = await start(OURS, { progress: true })
    servers.set(OURS, ours)
    const body = join(folder, 'events.json')
    writeFileSync(body, JSON.stringify(await streamOf(ours.port, revision)))
    servers.set(WRITER, await start(WRITER, { body }))
    for (const subject of selectSubjects(subjects, plan).filter(({ role }) => role === 'peer'))
      servers.set(subject, await start(subject, { progress: true }))
    const target = { work: 'progress', revision, connections: CONNECTIONS } as const
    return toSamples(titleOf(row, kind), await loadAll(servers, target, plan, log))
  } finally {
    await Promise.all([...servers.values()].map((server) => server.close()))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The response of our server to one call, which the limit reproduces. */
interface Stream {
  readonly headers: Readonly<Record<string, string>>
  /** For each event, the text before its message, and the message. */
  readonly events: readonly { readonly before: string; readonly message: unknown }[]
}

/** Headers that Node adds by itself. */
const NODE_HEADERS = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding'])

async function streamOf(port: number, revision: Revision): Promise<Stream> {
  const body = progressText(numbered(0), revision)
  const own = { 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': 'add' }
  const answer = revision === '2026-07-28' ? await post(port, body, own) : await postInSession(port, body)
  const text = await answer.text()
  if (answer.headers.get('content-type') !== 'text/event-stream')
    throw new Error(`the answer is not an event stream: ${text.slice(0, 600)}`)
  const events = text.split('\n\n').filter((event) => event !== '')
  return {
    headers: Object.fromEntries([...answer.headers].filter(([name]) => !NODE_HEADERS.has(name))),
    events: events.map((event) => {
      const at = event.indexOf('data: ') + 6
      const data = event.slice(at)
      return { before: event.slice(0, at), message: data === '' ? null : JSON.parse(data) }
    }),
  }
}
