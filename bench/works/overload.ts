import { headed } from '../../test/http/messages.ts'
import { offer, saturate, type Outcome } from '../../test/overload/offer.ts'
import { startHttp } from '../children.ts'
import { watchOthers } from '../machine.ts'
import { type Work, median } from '../measure.ts'
import { LIMIT, OURS, programOf } from '../subjects.ts'
import { usageOf } from '../usage.ts'

/** Answers that come later are worth nothing. */
const DEADLINE_MS = 1000
/** How many callers wait for their answer before they ask again: what the server does at its best. */
const CALLERS = 16

/** Answers in time while three times as much is asked as the server can do; the limit is its own best in the same round. */
export const overload: Work = {
  name: 'overload',
  run: async ({ rounds, seconds, warmUp }, say) => {
    const server = await startHttp(programOf({ ...OURS, file: 'pierhead-busy' }, 'http'), '{}')
    const request = (id: number): ReturnType<typeof headed> => headed('tools/call', { name: 'work' }, id)
    const options = { port: server.port, deadlineMs: DEADLINE_MS, request }
    const best: number[] = []
    const kept: number[] = []
    let disturbances = 0
    try {
      await saturate(CALLERS, { ...options, ms: warmUp * 1000 })
      for (let round = 0; round < rounds; round++) {
        const disturbed = watchOthers()
        const before = usageOf(server.pid).cpuMs
        const peak = await saturate(CALLERS, { ...options, ms: seconds * 1000 })
        const rush = await offer(peak.goodput * 3, { ...options, ms: seconds * 1000 })
        if (disturbed(usageOf(server.pid).cpuMs - before)) disturbances++
        checkRefusals(rush)
        best.push(peak.goodput)
        kept.push(rush.goodput)
        say(`round ${round + 1}: ${Math.round(rush.goodput)} of ${Math.round(peak.goodput)} answers/s`)
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

/** Whoever is not answered is told to come back, and when. */
function checkRefusals({ ends, refused }: Outcome): void {
  const odd = Object.keys(ends).filter((end) => !['200', '503', 'late'].includes(end))
  if (odd.length > 0) throw new Error(`requests ended in ${odd.join(', ')}`)
  if (refused.some(({ headers }) => headers['retry-after'] === undefined))
    throw new Error('a refusal does not say when to come back')
}
