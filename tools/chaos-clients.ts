// A process with clients of the chaos test. Its settings are the JSON of its first argument; it logs what it does and sees.
import { appendFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, type Client } from '../src/client.ts'
import type { ChaosLine, EffectLine } from './chaos-log.ts'
import { seeded } from './chaos-random.ts'
import { SessionClient } from './chaos-session-client.ts'
import { WsSessionClient } from './chaos-ws-client.ts'
import { look, runTask, type CrashClients } from './crash-clients.ts'

/** What a process with clients needs to know. */
export interface ClientSettings {
  readonly url: string
  /** The file that it writes. */
  readonly log: string
  readonly seed: number
  /** The first number of a task and of a client. No other process uses those that follow. */
  readonly from: number
  readonly tasks: number
  readonly sessions: number
  /** How often each session is used. */
  readonly visits: number
  /** One for each caller. */
  readonly apiKeys: readonly string[]
  /** Tasks and sessions in use at once. */
  readonly atOnce: number
}

/** What it tells the tool from time to time. */
export interface ClientNews {
  readonly accepted: number
  readonly visits: number
  /** How many handlers workers have run. */
  readonly byWorkers: number
  /** How many tasks and visits of those that there should be have ended, sessions were read to the end, and outcomes were looked at again. */
  readonly progress: number
  /** Whether there are as many tasks and visits as there should be; whether nothing runs any more. */
  readonly isDone: boolean
  readonly isIdle: boolean
}

const settings = JSON.parse(process.argv[2] ?? '{}') as ClientSettings
const { url, from, apiKeys } = settings
const random = seeded(settings.seed)
const TOOLS = ['sturdy', 'keyed', 'fragile', 'flaky']
/** The longest time that a task works. */
const WORK_MS = 1200
/** The pause between tasks, or visits, beyond those that there should be. */
const EXTRA_MS = 300
/** The part of requests about tasks whose connection the client breaks, and when it does so at the latest. */
const TASK_DROP_PART = 0.1
const TASK_DROP_MS = 40
const NEWS_MS = 500
/** How many of our own clients there are, and their first number. */
const OWN_CLIENTS = 4
const OWN_FROM = 1_000_000_000
/** One session of so many is a WebSocket. */
const WS_EACH = 5
/** How often one client changes a list that all have. */
const RELIST_MS = 15_000

let isStopping = false
let isOver = false
let [accepted, visits, byWorkers, ended, settled, isIdle] = [0, 0, 0, 0, 0, false]
/** When a session was last read to the end. */
let drainedAt = 0

const log = (line: ChaosLine): void =>
  appendFileSync(settings.log, `${JSON.stringify({ ...line, at: Date.now() })}\n`)
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))
const keyOf = (number: number): string => apiKeys[number % apiKeys.length] ?? ''
const wantedVisits = settings.sessions * settings.visits
/** What is done beyond that is no progress, or a run with clients that wait for ever would not end. */
const progress = (): number => Math.min(ended, settings.tasks) + Math.min(visits, wantedVisits) + settled
const isDone = (): boolean => accepted >= settings.tasks && visits >= wantedVisits

/** The external system on which handlers have effects. */
async function openLedger(): Promise<string> {
  const server = createServer((asked, answered) => {
    let body = ''
    asked.setEncoding('utf8').on('data', (text: string) => (body += text))
    asked.once('end', () => {
      const effect = JSON.parse(body) as Omit<EffectLine, 'event'>
      if (effect.by.startsWith('worker')) byWorkers++
      log({ event: 'effect', ...effect })
      answered.end('{}')
    })
  })
  // A connection that closes while a handler uses it would make the handler fail.
  server.keepAliveTimeout = 3_600_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Runs so many activities at once, until it is time to stop. */
async function inParallel(count: number, act: (place: number) => Promise<void>): Promise<void> {
  const places = Array.from({ length: count }, async (_, place) => {
    while (!isStopping && !isOver) await act(place)
  })
  await Promise.all(places)
}

const ids = new Map<number, readonly [string, CrashClients]>()

/** Starts tasks, at least as many as there should be. */
async function useTasks(ledger: string): Promise<void> {
  let next = from
  await inParallel(settings.atOnce, async (place) => {
    const isExtra = accepted >= settings.tasks
    if (isExtra && place > 1) return pause(EXTRA_MS)
    const task = next++
    const clients: CrashClients = {
      urls: [url],
      apiKey: keyOf(task),
      more: { ledger },
      isOver: () => isOver,
      dropMs: () => (random() < TASK_DROP_PART ? random() * TASK_DROP_MS : undefined),
      onDropped: () => log({ event: 'dropped', what: 'task' }),
      log: (line) => {
        if (line.event === 'accepted') accepted++
        log(line)
      },
    }
    const id = await runTask(clients, task, TOOLS[task % TOOLS.length] ?? '', random() * WORK_MS)
    if (id !== undefined) ids.set(task, [id, clients])
    ended++
    if (isExtra || id === undefined) await pause(EXTRA_MS)
  })
}

const sessions: (SessionClient | WsSessionClient)[] = []

/** Opens all sessions, and uses them in any order. */
async function useSessions(): Promise<void> {
  const world = { url, random, log, isOver: () => isOver }
  const free: (SessionClient | WsSessionClient)[] = []
  let opened = 0
  await inParallel(Math.min(settings.atOnce, settings.sessions), async (place) => {
    if (opened < settings.sessions) {
      const number = from + opened++
      const Client = number % WS_EACH === 0 ? WsSessionClient : SessionClient
      const client = new Client(number, { ...world, apiKey: keyOf(number) })
      sessions.push(client)
      await client.open()
      free.push(client)
      return
    }
    const isExtra = visits >= wantedVisits
    if (isExtra && place > 1) return pause(EXTRA_MS)
    const [client] = free.splice(Math.floor(random() * free.length), 1)
    if (client === undefined) return pause(EXTRA_MS)
    if (isExtra) await pause(EXTRA_MS)
    await client.visit()
    free.push(client)
    visits++
  })
}

/** A client of its own changes lists. */
async function changeLists(): Promise<void> {
  const number = from + settings.sessions
  const world = { url, random, log, isOver: () => isOver, apiKey: keyOf(number) }
  const client = new SessionClient(number, world)
  await client.open()
  sessions.push(client)
  await inParallel(1, async () => {
    for (let waited = 0; waited < RELIST_MS && !isStopping; waited += 100) await pause(100)
    await client.relist()
  })
}

const ours = new Set<Client>()

/** Uses our own client: its answers must be its own, too. */
async function useOwnClients(): Promise<void> {
  let calls = 0
  await inParallel(OWN_CLIENTS, async (place) => {
    const client = OWN_FROM + from + place
    let marker = ''
    const connected = await connect(url, {
      headers: { authorization: `Bearer ${keyOf(place)}` },
      timeout: '20s',
      total: '60s',
      answers: {
        elicit: ({ message }) => {
          log({ event: 'asked', client, call: marker, marker: message })
          return { action: 'accept', content: { marker } }
        },
      },
    }).catch(() => undefined)
    if (connected === undefined) return pause(EXTRA_MS)
    ours.add(connected)
    for (let each = 0; each < 20 && !isStopping && !isOver; each++) {
      marker = `m${client}-${++calls}`
      const asks = each % 2
      log({ event: 'called', client, call: marker, marker, steps: 0, asks, isOurs: true })
      try {
        const text = await connected.call(asks > 0 ? 'ask' : 'echo', { marker })
        log({ event: 'answered', client, call: marker, text: String(text) })
      } catch {
        log({ event: 'abandoned', client, call: marker })
      }
      await pause(EXTRA_MS)
    }
    ours.delete(connected)
    await connected.close()
  })
}

/** What the tool asks for: to begin nothing new, and then to read everything to the end. */
async function main(): Promise<void> {
  const drain = new Promise<void>((resolve) => {
    process.on('message', (message) => {
      if (message === 'stop') isStopping = true
      if (message === 'drain') resolve()
      if (message !== 'give up') return
      isOver = true
      for (const client of ours) void client.close()
    })
  })
  process.once('disconnect', () => process.exit())
  const timer = setInterval(() => {
    const news: ClientNews = { accepted, visits, byWorkers, progress: progress(), isDone: isDone(), isIdle }
    process.send?.(news)
  }, NEWS_MS)
  await Promise.all([useTasks(await openLedger()), useSessions(), changeLists(), useOwnClients()])
  isIdle = true
  await drain
  const left = [...sessions]
  const drains = Array.from({ length: settings.atOnce }, async () => {
    for (let client = left.pop(); client !== undefined; client = left.pop()) {
      await client.drain(() => drainedAt)
      drainedAt = performance.now()
      settled++
    }
  })
  await Promise.all(drains)
  // Outcomes stay as they are.
  const looks = [...ids]
  const looking = Array.from({ length: settings.atOnce }, async () => {
    for (let one = looks.pop(); one !== undefined; one = looks.pop()) {
      await look(one[1][1], one[0], one[1][0])
      settled++
    }
  })
  await Promise.all(looking)
  clearInterval(timer)
  process.exit()
}

await main()
