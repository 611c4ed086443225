import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HttpServer, startHttp } from '../children.ts'
import { type Plan, type Sample, type Workload, median, mostlyBusy, rateOf } from '../measure.ts'
import { FIRST_ID, listText } from '../messages.ts'
import {
  FASTMCP,
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
import { postInSession } from '../load/http.ts'
import { loadAll } from './http.ts'

const CONNECTIONS = 8
/** Peers convert all schemas for every list, in loops that V8 compiles during the first few, and take milliseconds for it. */
const PEER_WARM_UP = 100

/** tools/list with 100 tools of ten fields, against all peers and against the same bytes served from memory. */
export const list100: Workload = {
  name: 'list-100',
  run: (plan, log) => measureList(100, [OURS, V1, V2, TMCP, FASTMCP], plan, log),
}

/** tools/list with 1,000 tools of ten fields, against official v2. */
export const list1000: Workload = {
  name: 'list-1000',
  run: (plan, log) => measureList(1000, [OURS, V2], plan, log),
}

async function measureList(
  tools: number,
  subjects: readonly Subject[],
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const work = `HTTP tools/list, ${tools.toLocaleString('en')} tools of ten fields`
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const servers = new Map<Subject, HttpServer>()
  const more = { add: false, wide: tools }
  try {
    for (const subject of selectSubjects(subjects, plan))
      servers.set(subject, await startHttp(programOf(subject, 'http'), argumentOf(subject, more)))
    const body = join(folder, 'list.json')
    writeFileSync(body, await listOf(servers.get(OURS)))
    servers.set(LIMIT, await startHttp(programOf(LIMIT, 'http'), argumentOf(LIMIT, { body })))
    const target = { work: 'list', revision: '2025-11-25', connections: CONNECTIONS } as const
    const warmUp = ({ role }: Subject): number => (role === 'peer' ? PEER_WARM_UP : plan.warmUp.wire)
    const results = await loadAll(servers, target, plan, log, { warmUp })
    return [...results].flatMap(([subject, rounds]) => {
      const cpu = median(rounds.map(({ count, serverCpuMs }) => (serverCpuMs * 1000) / count))
      const busy = mostlyBusy(rounds)
      return [
        { work, subject, value: rateOf(rounds), unit: 'req/s', better: 'more', busy },
        { work, subject, value: cpu, unit: 'µs server CPU', better: 'less', busy },
      ] satisfies readonly Sample[]
    })
  } finally {
    await Promise.all([...servers.values()].map((server) => server.close()))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The list that our server returns in a session. */
async function listOf(server: HttpServer | undefined): Promise<string> {
  if (!server) throw new Error('our server is not running')
  const answer = await postInSession(server.port, listText(FIRST_ID, '2025-11-25'))
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`tools/list was answered with ${answer.status}: ${text}`)
  return text
}
