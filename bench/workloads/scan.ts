import { startWorker, type Worker } from '../children.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Sample, type Workload, median, mostlyBusy } from '../measure.ts'
import type { ScanCommands, ScanTimes } from '../scan.ts'
import { LIMIT, OURS } from '../subjects.ts'

/** The cost that the scan for duplicate keys and large ids adds to a call; the limit is JSON.parse of the same text. */
export const scanCost: Workload = {
  name: 'scan',
  run: async (plan, log) => {
    const worker: Worker<ScanCommands> = startWorker('scan')
    const samples: Sample[] = []
    try {
      for (const revision of ['2025-11-25', '2026-07-28'] as const) {
        const command = { revision, seconds: plan.seconds / 4 }
        await worker.ask('time', command)
        const rounds: (ScanTimes & { readonly busy: boolean })[] = []
        for (let round = 0; round < plan.rounds; round++) {
          const disturbed = watchOtherPrograms()
          const times = await worker.ask<ScanTimes>('time', command)
          rounds.push({ ...times, busy: disturbed(times.workerCpuMs) })
        }
        const busy = mostlyBusy(rounds)
        const work = `scan of a tools/call for duplicate keys and large ids, ${revision}`
        const scan = median(rounds.map(({ scanNs }) => scanNs))
        const parse = median(rounds.map(({ parseNs }) => parseNs))
        log(`${revision}: scan ${scan.toFixed(0)} ns, JSON.parse ${parse.toFixed(0)} ns`)
        samples.push({ work, subject: LIMIT, value: parse, unit: 'ns', better: 'less', busy })
        samples.push({ work, subject: OURS, value: scan, unit: 'ns', better: 'less', busy })
      }
    } finally {
      await worker.close()
    }
    return samples
  },
}
