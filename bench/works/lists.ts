import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HttpServer, startHttp } from '../children.ts'
import { type Plan, type Sample, type Work, median, mostly } from '../measure.ts'
import { FIRST_ID, listText } from '../messages.ts'
import { LIMIT, OURS, type Subject, TMCP, V1, V2, argumentOf, programOf } from '../subjects.ts'
import { loadAll } from './http.ts'

const CONNECTIONS = 8

/** tools/list with 100 tools of ten fields, against all peers and against the same bytes served from memory. */
export const list100: Work = {
  name: 'list-100',
  run: (plan, say) => measureList(100, [OURS, V1, V2, TMCP], plan, say),
}

/** tools/list with 1,000 tools of ten fields. */
export const list1000: Work = { name: 'list-1000', run: (plan, say) => measureList(1000, [OURS], plan, say) }

async function measureList(
  tools: number,
  subjects: readonly Subject[],
  plan: Plan,
  say: (line: string) => void,
): Promise<readonly Sample[]> {
  const work = `HTTP tools/list, ${tools.toLocaleString('en')} tools of ten fields`
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const servers = new Map<Subject, HttpServer>()
  const more = { add: false, wide: tools }
  try {
    for (const subject of subjects)
      servers.set(subject, await startHttp(programOf(subject, 'http'), argumentOf(subject, more)))
    const body = join(folder, 'list.json')
    writeFileSync(body, await listOf(servers.get(OURS)))
    servers.set(LIMIT, await startHttp(programOf(LIMIT, 'http'), argumentOf(LIMIT, { body })))
    const target = { work: 'list', revision: '2025-11-25', connections: CONNECTIONS } as const
    const results = await loadAll(servers, target, plan, say)
    return [...results].flatMap(([subject, rounds]) => {
      const rate = median(rounds.map(({ count, seconds }) => count / seconds))
      const cpu = median(rounds.map(({ count, serverCpuMs }) => (serverCpuMs * 1000) / count))
      const busy = mostly(rounds)
      return [
        { work, subject, value: rate, unit: 'req/s', better: 'more', busy },
        { work, subject, value: cpu, unit: 'µs server CPU', better: 'less', busy },
      ] satisfies readonly Sample[]
    })
  } finally {
    await Promise.all([...servers.values()].map((server) => server.close()))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The list as our server answers it. */
async function listOf(server: HttpServer | undefined): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${server?.port}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
    },
    body: listText(FIRST_ID, '2026-07-28'),
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`tools/list was answered with ${answer.status}: ${text}`)
  return text
}
