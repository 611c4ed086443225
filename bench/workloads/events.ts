import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HttpServer, startHttp } from '../children.ts'
import { post, postInSession } from '../load/http.ts'
import type { Plan, Sample, Workload } from '../measure.ts'
import { type Revision, numbered, progressText } from '../messages.ts'
import {
  LIMIT,
  OURS,
  type Subject,
  TMCP,
  V1,
  V2,
  argumentOf,
  selectSubjects,
  programOf,
} from '../subjects.ts'
import { CONNECTIONS, loadAll, toSamples } from './http.ts'

/** HTTP tools/call answered as an event stream with one progress event, with one 2025 session per connection. */
export const eventsSession: Workload = {
  name: 'events-session',
  run: (plan, log) => {
    const work = 'HTTP tools/call answered as SSE with one progress event, 2025-11-25 session'
    return measureEvents(work, '2025-11-25', [OURS, V1, V2, TMCP], plan, log)
  },
}

/** The same at 2026-07-28; official v1 does not serve that revision. */
export const events2026: Workload = {
  name: 'events-2026',
  run: (plan, log) => {
    const work = 'HTTP tools/call answered as SSE with one progress event, 2026-07-28'
    return measureEvents(work, '2026-07-28', [OURS, V2, TMCP], plan, log)
  },
}

const WRITER: Subject = { ...LIMIT, file: 'limit-events' }

async function measureEvents(
  work: string,
  revision: Revision,
  subjects: readonly Subject[],
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const servers = new Map<Subject, HttpServer>()
  try {
    const ours = await startHttp(programOf(OURS, 'http'), argumentOf(OURS, { progress: true }))
    servers.set(OURS, ours)
    const body = join(folder, 'events.json')
    writeFileSync(body, JSON.stringify(await streamOf(ours.port, revision)))
    servers.set(WRITER, await startHttp(programOf(WRITER, 'http'), argumentOf(WRITER, { body })))
    for (const subject of selectSubjects(subjects, plan).filter((each) => each !== OURS))
      servers.set(
        subject,
        await startHttp(programOf(subject, 'http'), argumentOf(subject, { progress: true })),
      )
    const target = { work: 'progress', revision, connections: CONNECTIONS } as const
    return toSamples(work, await loadAll(servers, target, plan, log))
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
