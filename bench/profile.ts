import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Plan, TimedRound, Workload } from './measure.ts'
import {
  type ProfileTable,
  type ProfiledProgram,
  type RecordedProfile,
  compareProfiles,
} from './profile-table.ts'
import { LIMIT, OURS, type Subject, profileFileOf, profileSubjectsInto } from './subjects.ts'

/** Runs a workload with our server and the limit under V8's profiler, and compares where they spend their time. */
export async function profileWorkload(
  { name, run }: Workload,
  plan: Plan,
  log: (line: string) => void,
): Promise<ProfileTable> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-profile-'))
  const rounds: TimedRound[] = []
  profileSubjectsInto(folder)
  try {
    await run({ ...plan, peers: false, onRound: (round) => rounds.push(round) }, log)
    const programOf = (subject: Subject): ProfiledProgram => readProgram(name, subject, rounds)
    return compareProfiles(name, programOf(OURS), programOf(LIMIT))
  } finally {
    profileSubjectsInto(undefined)
    rmSync(folder, { recursive: true, force: true })
  }
}

function readProgram(workload: string, subject: Subject, allRounds: readonly TimedRound[]): ProfiledProgram {
  const rounds = allRounds.filter((round) => round.subject.name === subject.name)
  const calls = rounds.reduce((total, { result }) => total + callsOf(result), 0)
  const file = profileFileOf(subject)
  const profiles = readdirSync(dirname(file))
    .filter((each) => each.startsWith(`${basename(file)}-`))
    .map((each) => JSON.parse(readFileSync(join(dirname(file), each), 'utf8')) as RecordedProfile)
  if (calls === 0 || profiles.length === 0)
    throw new Error(`${workload} has no calls to a server of ${subject.name}, so it cannot be profiled`)
  return { profiles, spans: rounds, calls }
}

function callsOf(result: object): number {
  return 'count' in result && typeof result.count === 'number' ? result.count : 0
}
