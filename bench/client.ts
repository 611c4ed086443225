import { spawnSync } from 'node:child_process'
import { type Extent, failOnStall, startRound } from './extent.ts'
import { Histogram } from './histogram.ts'
import { type Revision, numbered } from './messages.ts'
import { runCommands } from './commands.ts'
import { usageOf } from './usage.ts'

/** The server that a client calls: a URL, or a program that the client starts. */
export type ClientTarget =
  | { readonly url: string; readonly pid: number }
  | { readonly command: string; readonly args: readonly string[] }

/** The commands of a process with one client. */
export interface ClientCommands {
  readonly open: { readonly subject: string; readonly target: ClientTarget; readonly revision: Revision }
  readonly call: { readonly extent: Extent }
}

/** One round of calls, one after the other. */
export interface ClientRound {
  readonly count: number
  readonly seconds: number
  readonly p50: number
  readonly serverCpuMs: number
}

interface Connected {
  call(a: number, b: number): Promise<unknown>
  close(): Promise<void>
}

interface SubjectModule {
  connect(target: ClientTarget, revision: Revision): Promise<Connected>
}

let client: Connected | undefined
let server = 0
let next = 0

runCommands<ClientCommands>({ open: openClient, call: callFor })

async function openClient({ subject, target, revision }: ClientCommands['open']): Promise<void> {
  const { connect } = (await import(subject)) as SubjectModule
  client = await connect(target, revision)
  server = 'pid' in target ? target.pid : onlyChild()
}

/** Not every client exposes the id of the process it started, so the system is asked. */
function onlyChild(): number {
  return Number(spawnSync('pgrep', ['-P', String(process.pid)], { encoding: 'utf8' }).stdout.trim())
}

async function callFor({ extent }: ClientCommands['call']): Promise<ClientRound> {
  if (!client) throw new Error('no client is open')
  const first = next
  return failOnStall(callOneByOne(client, extent), () => next - first)
}

async function callOneByOne(connected: Connected, extent: Extent): Promise<ClientRound> {
  const cpuBefore = usageOf(server).cpuMs
  const latencies = new Histogram()
  const start = performance.now()
  const isOver = startRound(extent)
  let count = 0
  let now = start
  do {
    const { a, b } = numbered(next++)
    const sentAt = performance.now()
    const sum = await connected.call(a, b)
    now = performance.now()
    latencies.add(now - sentAt)
    if (sum !== String(a + b)) throw new Error(`wrong answer to ${a} + ${b}: ${JSON.stringify(sum)}`)
    count++
  } while (!isOver(count))
  return {
    count,
    seconds: (now - start) / 1000,
    p50: latencies.percentile(0.5),
    serverCpuMs: usageOf(server).cpuMs - cpuBefore,
  }
}

process.on('disconnect', () => void exit())

async function exit(): Promise<void> {
  await client?.close()
  process.exit(0)
}
