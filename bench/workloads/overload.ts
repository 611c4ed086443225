import { headed } from '../../test/http/messages.ts'
import { offer, saturate, type Outcome } from '../../test/overload/offer.ts'
import { startHttp } from '../children.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Workload, median } from '../measure.ts'
import { LIMIT, OURS, programOf } from '../subjects.ts'
import { usageOf } from '../usage.ts'

/** Later answers do not count. */
const DEADLINE_MS = 1000
/** The number of callers that find the maximum rate; each waits for its answer before it calls again. */
const CALLERS = 16
/** The number of calls before the first round; each takes milliseconds in a function that is not compiled. */
const WARM_UP = 200

/** Answers in time at three times the maximum rate of the server; the limit is its maximum rate in the same round. */
export const overload: Workload = {
  name: 'overload',
  run: async ({ rounds, seconds }, log) => {
    const server = await startHttp(programOf({ ...OURS, file: 'pierhead-busy' }, 'http'), '{}')
    const request = (id: number): ReturnType<typeof headed> => headed('tools/call', { name: 'work' }, id)
    const options = { port: server.port, deadlineMs: DEADLINE_MS, request }
    const best: number[] = []
    const kept: number[] = []
    let disturbances = 0
    try {
      for (let answered = 0; answered < WARM_UP;) {
        const { ends } = await saturate(CALLERS, { ...options, ms: 200 })
        const answers = (ends['200'] ?? 0) + (ends['late'] ?? 0)
        if (answers === 0) throw new Error('the server answers nothing')
        answered += answers
      }
      for (let round = 0; round < rounds; round++) {
        const disturbed = watchOtherPrograms()
        const before = usageOf(server.pid).cpuMs
        const peak = await saturate(CALLERS, { ...options, ms: seconds * 1000 })
        const overloaded = await offer(peak.goodput * 3, { ...options, ms: seconds * 1000 })
        if (disturbed(usageOf(server.pid).cpuMs - before)) disturbances++
        checkRefusals(overloaded)
        best.push(peak.goodput)
        kept.push(overloaded.goodput)
        log(`round ${round + 1}: ${Math.round(overloaded.goodput)} of ${Math.round(peak.goodput)} answers/s`)
      }
    } finally {
      await server.close()
    }
    const row = {
      work: 'HTTP, three times what the server can do',
      unit: 'answers/s',
      better: 'more',
    } as const
    const busy = disturbances * 2 > rounds
    return [
      { ...row, subject: LIMIT, value: median(best), busy },
      { ...row, subject: OURS, value: median(kept), busy },
    ]
  },
}

/** Rejected requests must get a 503 with the time to retry. */
function checkRefusals({ ends, refused }: Outcome): void {
  const unexpected = Object.keys(ends).filter((end) => !['200', '503', 'late'].includes(end))
  if (unexpected.length > 0) throw new Error(`requests ended in ${unexpected.join(', ')}`)
  if (refused.some(({ headers }) => headers['retry-after'] === undefined))
    throw new Error('a refusal has no Retry-After header')
}
