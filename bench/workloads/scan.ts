import { startWorker, type Worker } from '../children.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Sample, type Workload, median, mostlyBusy } from '../measure.ts'
import type { ScanCommands, ScanTimes } from '../scan.ts'
import { LIMIT, OURS } from '../subjects.ts'

/** Reading a call with the scan for duplicate keys and large ids; the limit is JSON.parse alone. */
export const scanCost: Workload = {
  name: 'scan',
  run: async (plan, log) => {
    const worker: Worker<ScanCommands> = startWorker('scan')
    const samples: Sample[] = []
    try {
      for (const revision of ['2025-11-25', '2026-07-28'] as const) {
        await worker.ask('time', { revision, extent: { calls: plan.warmUp.memory } })
        const command = { revision, extent: { seconds: plan.seconds / 4 } }
        const rounds: (ScanTimes & { readonly busy: boolean })[] = []
        for (let round = 0; round < plan.rounds; round++) {
          const disturbed = watchOtherPrograms()
          const times = await worker.ask<ScanTimes>('time', command)
          rounds.push({ ...times, busy: disturbed(times.workerCpuMs) })
        }
        const busy = mostlyBusy(rounds)
        const work = `reading a tools/call with the scan for duplicate keys and large ids, ${revision}`
        const read = median(rounds.map(({ readNs }) => readNs))
        const parse = median(rounds.map(({ parseNs }) => parseNs))
        log(`${revision}: JSON.parse ${parse.toFixed(0)} ns, with the scan ${read.toFixed(0)} ns`)
        samples.push({ work, subject: LIMIT, value: parse, unit: 'ns', better: 'less', busy })
        samples.push({ work, subject: OURS, value: read, unit: 'ns', better: 'less', busy })
      }
    } finally {
      await worker.close()
    }
    return samples
  },
}
