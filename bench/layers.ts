import { Worker } from 'node:worker_threads'
import { runCommands } from './commands.ts'
import type { LayerCount, LayerOptions } from './layer-thread.ts'

/** The commands of the process that measures layers: one layer on several threads at once. */
export interface LayerCommands {
  readonly measure: LayerOptions & { readonly threads: number }
}

/** The rate of all threads together. */
export interface LayerRate {
  readonly perSecond: number
}

const FILE = new URL('layer-thread.mjs', import.meta.url)
const workers: Worker[] = []

runCommands<LayerCommands>({
  measure: async ({ threads, ...options }): Promise<LayerRate> => {
    while (workers.length < threads) workers.push(new Worker(FILE))
    const counts = await Promise.all(workers.slice(0, threads).map((worker) => measureOn(worker, options)))
    return { perSecond: counts.reduce((total, { count, seconds }) => total + count / seconds, 0) }
  },
})

function measureOn(worker: Worker, options: LayerOptions): Promise<LayerCount> {
  return new Promise((done, fail) => {
    worker.once('error', fail)
    worker.once('message', (reply: LayerCount & { readonly error?: string }) => {
      worker.off('error', fail)
      if (reply.error === undefined) done(reply)
      else fail(new Error(reply.error))
    })
    worker.postMessage(options)
  })
}

process.on('disconnect', () => process.exit(0))
