import { startWorker, type Worker } from '../children.ts'
import type { Climbed, LadderOrders } from '../ladder.ts'
import { watchOthers } from '../machine.ts'
import { type Sample, type Work, interleave, median, mostly } from '../measure.ts'
import type { Rung } from '../rungs.ts'
import { LIMIT, OURS, type Subject, programOf } from '../subjects.ts'
import { named } from './http.ts'

const RUNGS: readonly { readonly rung: Rung; readonly title: string; readonly unit: string }[] = [
  { rung: 'step', title: 'a step of a table, which is no message', unit: 'steps/s' },
  { rung: 'decode', title: 'a ping decoded', unit: 'msg/s' },
  { rung: 'ping', title: 'a ping, bytes in to bytes out', unit: 'msg/s' },
  { rung: 'call', title: 'a validated call, bytes in to bytes out', unit: 'msg/s' },
]
const THREADS = ['one thread', 'two threads'] as const

/** What can be done in memory, from a step of a data structure to an answered call: each rung is named for what it is. */
export const ladder: Work = {
  name: 'ladder',
  run: async (plan, say) => {
    const worker: Worker<LadderOrders> = startWorker('ladder')
    const samples: Sample[] = []
    try {
      for (const [index, threads] of THREADS.entries()) {
        for (const { rung, title, unit } of RUNGS) {
          const once = async (subject: Subject, seconds: number): Promise<Climbed & { busy: boolean }> => {
            const disturbed = watchOthers()
            const whose = subject === OURS ? 'ours' : 'limit'
            const order = {
              rung,
              whose,
              subject: programOf(subject, 'memory'),
              threads: index + 1,
              seconds,
            } as const
            const climbed = await named(subject, worker.ask<Climbed>('climb', order))
            return { ...climbed, busy: disturbed(climbed.workerCpuMs) }
          }
          const subjects = rung === 'step' ? [LIMIT] : [LIMIT, OURS]
          for (const subject of subjects) await once(subject, plan.warmUp)
          const results = await interleave(subjects, plan.rounds, (subject) => once(subject, plan.seconds))
          for (const [subject, rounds] of results) {
            const value = median(rounds.map(({ perSecond }) => perSecond))
            const work = `in memory: ${title}, ${threads}`
            say(`${work}: ${subject.name} ${Math.round(value)}`)
            samples.push({ work, subject, value, unit, better: 'more', busy: mostly(rounds) })
          }
        }
      }
    } finally {
      await worker.close()
    }
    return samples
  },
}
