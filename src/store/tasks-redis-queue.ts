import { pause } from '../base/backoff.ts'
import { lazy } from '../base/lazy.ts'
import { mcpError } from '../errors/error.ts'
import { BULLMQ_UNAVAILABLE } from '../errors/store.ts'
import type { TaskHead } from '../tasks/record.ts'
import type { Client } from './redis-client.ts'
import type { RedisLink } from './redis-link.ts'
import { storedText } from './stored-text.ts'

/** The part of BullMQ that is used. */
interface BullMq {
  readonly Queue: new (name: string, options: object) => Queue
  readonly Worker: new (name: string, process: (job: Job) => Promise<void>, options: object) => Worker
}

interface Job {
  readonly data: { readonly id?: unknown }
}

interface Queue {
  add(name: string, data: object, options: object): Promise<unknown>
  on(event: 'error', listener: (error: unknown) => void): unknown
}

interface Worker {
  close(force?: boolean): Promise<void>
  on(event: 'error', listener: (error: unknown) => void): unknown
}

/** The name of a queue inside the prefix of its server. */
const NAME = 'tasks'

/** How often, and after what first pause, BullMQ offers a task that a node did not begin to another one: about half a minute in all. */
const ATTEMPTS = { attempts: 8, backoff: { type: 'exponential', delay: 250, jitter: 0.5 } }

/** How many tasks BullMQ offers a node at once. One look at the store serves all of them. */
const AT_ONCE = 32

/** How many messages BullMQ keeps for those who watch a queue. Nobody does. */
const EVENTS = { events: { maxLen: 100 } }

/**
 * Tells nodes of tasks that wait for one. Each server has a queue of BullMQ; a job has the id of a task, waits until that may begin, and
 * goes to one node. The job is done once a node has claimed the task. It decides nothing: a job that is lost, late or done twice only
 * means that nodes look at the store later, or in vain.
 */
export class RedisTaskQueue {
  readonly #link: RedisLink
  readonly #leaseMs: number
  readonly #queues = new Map<string, Queue>()
  readonly #stops = new Set<() => Promise<void>>()
  readonly #client = lazy(() => this.#link.queueClient())
  /** BullMQ, which is loaded when it is first needed. */
  readonly load: () => BullMq | Promise<BullMq> = lazy(loadBullMq)
  #opened: Client | undefined

  constructor(link: RedisLink, leaseMs: number) {
    this.#link = link
    this.#leaseMs = leaseMs
  }

  /** Tells a node of a task that may begin in so many milliseconds. It waits as long as a step may take, and never fails: nodes look at the store from time to time. */
  async add({ id, server }: TaskHead, ms: number): Promise<void> {
    const delay = Math.max(0, Math.ceil(ms))
    const options = { ...ATTEMPTS, delay, removeOnComplete: true, removeOnFail: true }
    try {
      const queue = await this.#queue(storedText(server))
      await this.#inTime(queue.add(NAME, { id }, options))
    } catch (error) {
      this.#link.warnOf(error)
    }
  }

  /** Calls `begin` with the id of each task of a server that may begin; it says whether somebody has. Returns a function that stops it. */
  listen(server: string, begin: (id: string) => Promise<boolean>): () => Promise<void> {
    const process = async ({ data: { id } }: Job): Promise<void> => {
      // BullMQ tells another node after a pause.
      if (typeof id === 'string' && !(await begin(id))) throw new Error('no node had room for the task')
    }
    const started = this.#work(server, process)
    const stop = async (): Promise<void> => {
      this.#stops.delete(stop)
      const worker = await started
      if (worker !== undefined)
        await this.#inTime(worker.close()).catch((error: unknown) => this.#link.warnOf(error))
    }
    this.#stops.add(stop)
    return stop
  }

  async close(): Promise<void> {
    await Promise.all([...this.#stops].map((stop) => stop()))
    this.#opened?.disconnect()
  }

  /** Begins to work on the queue of a server. Without BullMQ there are no tasks to work on, because none can be created. */
  async #work(server: string, process: (job: Job) => Promise<void>): Promise<Worker | undefined> {
    try {
      const { Worker } = await this.load()
      const options = {
        ...(await this.#options(server)),
        concurrency: AT_ONCE,
        lockDuration: this.#leaseMs,
        stalledInterval: this.#leaseMs,
        maxStalledCount: ATTEMPTS.attempts,
      }
      const worker = new Worker(NAME, process, options)
      worker.on('error', (error) => this.#link.warnOf(error))
      return worker
    } catch {
      return undefined
    }
  }

  async #queue(server: string): Promise<Queue> {
    const { Queue } = await this.load()
    const options = { ...(await this.#options(server)), streams: EVENTS }
    const known = this.#queues.get(server)
    if (known !== undefined) return known
    const queue = new Queue(NAME, options)
    queue.on('error', (error) => this.#link.warnOf(error))
    this.#queues.set(server, queue)
    return queue
  }

  /** Where the queue of a server is: its keys have a tag of their own. */
  async #options(server: string): Promise<object> {
    this.#opened = await this.#client()
    return { connection: this.#opened, prefix: this.#link.key(`queue:${encodeURIComponent(server)}`, '') }
  }

  /** Waits for something, but no longer than a step may take. */
  async #inTime(done: Promise<unknown>): Promise<void> {
    const late = new AbortController()
    try {
      await Promise.race([done, pause(this.#link.timeoutMs, late.signal)])
    } finally {
      late.abort()
    }
  }
}

async function loadBullMq(): Promise<BullMq> {
  try {
    return (await import('bullmq')) as unknown as BullMq
  } catch (cause) {
    throw mcpError(BULLMQ_UNAVAILABLE, { reason: 'the package bullmq cannot be loaded' }, { cause })
  }
}
