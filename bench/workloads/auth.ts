import { startHttp, startWorker, type HttpServer, type Worker } from '../children.ts'
import { startIssuer } from '../issuer.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Plan, type Sample, type Workload, median, mostlyBusy } from '../measure.ts'
import { argumentOf, LIMIT, OURS, OURS_NO_TOKEN, OURS_OPEN, programOf, type Subject } from '../subjects.ts'
import type { VerifyCommands, VerifyTimes } from '../verify.ts'
import { CONNECTIONS, loadAll, toSamples, type WatchedRound } from './http.ts'

/** The resource that tokens of the bench are for. */
const RESOURCE = 'https://bench.example/mcp'
const AUTH_CALLS = 'HTTP tools/call with the same token, 2026-07-28'
const FRESH = 'verifying an ES256 token that was not seen before'

/** V8 compiles every process a little differently, which can change the rate by more than the token does; so several are measured. */
const PROCESSES = 3

/** Calls with one token: to a server that verifies it, and to one without `auth`, which also gets calls without the token. */
export const authCalls: Workload = {
  name: 'auth',
  run: async (plan, log) => {
    const issuer = await startIssuer()
    try {
      const auth = { issuer: issuer.url, resource: RESOURCE }
      const token = await issuer.token(RESOURCE)
      const rounds = new Map<Subject, WatchedRound[]>()
      for (let count = 0; count < PROCESSES; count++)
        for (const [subject, more] of await measureToken(auth, token, plan, log))
          rounds.set(subject, [...(rounds.get(subject) ?? []), ...more])
      return [...toSamples(AUTH_CALLS, rounds), ...cpuSamples(rounds)]
    } finally {
      issuer.close()
    }
  },
}

/** The CPU time of the servers for one call, which other programs disturb less than the rate. */
function cpuSamples(rounds: ReadonlyMap<Subject, readonly WatchedRound[]>): readonly Sample[] {
  return [...rounds].map(([subject, all]) => {
    const value = median(all.map(({ serverCpuMs, count }) => (serverCpuMs * 1000) / count))
    return { work: AUTH_CALLS, subject, value, unit: 'µs server CPU', better: 'less', busy: mostlyBusy(all) }
  })
}

async function measureToken(
  auth: object,
  token: string,
  plan: Plan,
  log: (line: string) => void,
): Promise<ReadonlyMap<Subject, readonly WatchedRound[]>> {
  const servers = new Map<Subject, HttpServer>()
  try {
    for (const subject of [LIMIT, OURS, OURS_OPEN, OURS_NO_TOKEN]) {
      const argument = argumentOf(subject, subject === OURS ? { auth } : {})
      servers.set(subject, await startHttp(programOf(subject, 'http'), argument))
    }
    const target = { work: 'call', revision: '2026-07-28', connections: CONNECTIONS } as const
    const tokenFor = (subject: Subject): string | undefined => (subject === OURS_NO_TOKEN ? undefined : token)
    return await loadAll(servers, target, plan, log, { tokenFor })
  } finally {
    await Promise.all([...servers.values()].map((server) => server.close()))
  }
}

/** The time of `oauth` for a new token; the limit is the signature alone, as jose checks it. */
export const freshTokens: Workload = {
  name: 'auth-fresh',
  run: async (plan, log) => {
    const issuer = await startIssuer()
    const worker: Worker<VerifyCommands> = startWorker('verify')
    const once = async (): Promise<VerifyTimes & { readonly busy: boolean }> => {
      const tokens: string[] = []
      for (let count = 0; count < 500; count++) tokens.push(await issuer.token(RESOURCE))
      const disturbed = watchOtherPrograms()
      const command = { issuer: issuer.url, resource: RESOURCE, tokens }
      const times = await worker.ask<VerifyTimes>('time', command)
      return { ...times, busy: disturbed(times.workerCpuMs) }
    }
    try {
      await once()
      const rounds = []
      for (let round = 0; round < plan.rounds; round++) rounds.push(await once())
      const busy = mostlyBusy(rounds)
      const ours = median(rounds.map(({ oauthUs }) => oauthUs))
      const limit = median(rounds.map(({ joseUs }) => joseUs))
      log(`jose ${limit.toFixed(0)} µs, oauth ${ours.toFixed(0)} µs`)
      return [
        { work: FRESH, subject: LIMIT, value: limit, unit: 'µs', better: 'less', busy },
        { work: FRESH, subject: OURS, value: ours, unit: 'µs', better: 'less', busy },
      ] satisfies readonly Sample[]
    } finally {
      await worker.close()
      issuer.close()
    }
  },
}
