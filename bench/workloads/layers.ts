import { startWorker, type Worker } from '../children.ts'
import type { LayerRate, LayerCommands } from '../layers.ts'
import type { Extent } from '../extent.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Sample, type Workload, interleave, median, mostlyBusy } from '../measure.ts'
import type { Layer } from '../layer-thread.ts'
import { LIMIT, OURS, type Subject, programOf } from '../subjects.ts'
import { withSubjectName } from './http.ts'

const LAYERS: readonly { readonly layer: Layer; readonly title: string; readonly unit: string }[] = [
  { layer: 'step', title: 'a step of a table, which is no message', unit: 'steps/s' },
  { layer: 'decode', title: 'a ping decoded', unit: 'msg/s' },
  { layer: 'ping', title: 'a ping, bytes in to bytes out', unit: 'msg/s' },
  { layer: 'call', title: 'a validated call, bytes in to bytes out', unit: 'msg/s' },
]
const THREADS = ['one thread', 'two threads'] as const

/** The rates of the in-memory layers, from a step of a data structure to an answered call. */
export const layers: Workload = {
  name: 'layers',
  run: async (plan, log) => {
    const worker: Worker<LayerCommands> = startWorker('layers')
    const samples: Sample[] = []
    try {
      for (const [index, threads] of THREADS.entries()) {
        for (const { layer, title, unit } of LAYERS) {
          const once = async (subject: Subject, extent: Extent): Promise<LayerRate & { busy: boolean }> => {
            const disturbed = watchOtherPrograms()
            const whose = subject === OURS ? 'ours' : 'limit'
            const options = {
              layer,
              whose,
              subject: programOf(subject, 'memory'),
              threads: index + 1,
              extent,
            } as const
            const measured = await withSubjectName(subject, worker.ask<LayerRate>('measure', options))
            return { ...measured, busy: disturbed(measured.workerCpuMs) }
          }
          const subjects = layer === 'step' ? [LIMIT] : [LIMIT, OURS]
          for (const subject of subjects) await once(subject, { calls: plan.warmUp.memory })
          const results = await interleave(subjects, plan, (subject) =>
            once(subject, { seconds: plan.seconds }),
          )
          for (const [subject, rounds] of results) {
            const value = median(rounds.map(({ perSecond }) => perSecond))
            const work = `in memory: ${title}, ${threads}`
            log(`${work}: ${subject.name} ${Math.round(value)}`)
            samples.push({ work, subject, value, unit, better: 'more', busy: mostlyBusy(rounds) })
          }
        }
      }
    } finally {
      await worker.close()
    }
    return samples
  },
}
