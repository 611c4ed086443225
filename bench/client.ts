import { spawnSync } from 'node:child_process'
import { Histogram } from './histogram.ts'
import { type Revision, numbered } from './messages.ts'
import { answer } from './orders.ts'
import { usageOf } from './usage.ts'

/** Where the server is that a client calls: at a URL, or a program that the client starts. */
export type ClientTarget =
  | { readonly url: string; readonly pid: number }
  | { readonly command: string; readonly args: readonly string[] }

/** What a process that holds one client can be asked to do. */
export interface ClientOrders {
  readonly open: { readonly subject: string; readonly target: ClientTarget; readonly revision: Revision }
  readonly call: { readonly seconds: number }
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

const STALL_MS = 10_000

let client: Connected | undefined
let server = 0
let next = 0

answer<ClientOrders>({ open: openClient, call: callForAWhile })

async function openClient({ subject, target, revision }: ClientOrders['open']): Promise<void> {
  const { connect } = (await import(subject)) as SubjectModule
  client = await connect(target, revision)
  server = 'pid' in target ? target.pid : onlyChild()
}

/** Clients do not all tell which process they started; the system does. */
function onlyChild(): number {
  return Number(spawnSync('pgrep', ['-P', String(process.pid)], { encoding: 'utf8' }).stdout.trim())
}

async function callForAWhile({ seconds }: ClientOrders['call']): Promise<ClientRound> {
  if (!client) throw new Error('no client is open')
  const round = callUntil(client, seconds * 1000)
  let timer: NodeJS.Timeout | undefined
  const stalled = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error('an answer did not come in time')), seconds * 1000 + STALL_MS)
  })
  try {
    return await Promise.race([round, stalled])
  } finally {
    clearTimeout(timer)
  }
}

async function callUntil(connected: Connected, ms: number): Promise<ClientRound> {
  const cpuBefore = usageOf(server).cpuMs
  const latencies = new Histogram()
  const start = performance.now()
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
  } while (now - start < ms)
  return {
    count,
    seconds: (now - start) / 1000,
    p50: latencies.percentile(0.5),
    serverCpuMs: usageOf(server).cpuMs - cpuBefore,
  }
}

process.on('disconnect', () => void leave())

async function leave(): Promise<void> {
  await client?.close()
  process.exit(0)
}
