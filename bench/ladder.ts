import { Worker } from 'node:worker_threads'
import { answer } from './orders.ts'
import type { RungCount, RungOrder } from './rungs.ts'

/** What the process that climbs the ladder can be asked to do: one rung, on so many threads at once. */
export interface LadderOrders {
  readonly climb: RungOrder & { readonly threads: number }
}

/** What all threads did together. */
export interface Climbed {
  readonly perSecond: number
}

const FILE = new URL('rungs.mjs', import.meta.url)
const workers: Worker[] = []

answer<LadderOrders>({
  climb: async ({ threads, ...order }): Promise<Climbed> => {
    while (workers.length < threads) workers.push(new Worker(FILE))
    const counts = await Promise.all(workers.slice(0, threads).map((worker) => climbOn(worker, order)))
    return { perSecond: counts.reduce((total, { count, seconds }) => total + count / seconds, 0) }
  },
})

function climbOn(worker: Worker, order: RungOrder): Promise<RungCount> {
  return new Promise((done, fail) => {
    worker.once('error', fail)
    worker.once('message', (reply: RungCount & { readonly error?: string }) => {
      worker.off('error', fail)
      if (reply.error === undefined) done(reply)
      else fail(new Error(reply.error))
    })
    worker.postMessage(order)
  })
}

process.on('disconnect', () => process.exit(0))
