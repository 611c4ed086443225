import { startHttp, startWorker, type Worker } from '../children.ts'
import type { LoadOrders } from '../load.ts'
import type { Sample, Work } from '../measure.ts'
import { OURS, TMCP, V1, V2, argumentOf, programOf } from '../subjects.ts'
import { named } from './http.ts'

const FIRST_SESSIONS = 100

/** What an idle 2025 session weighs on a server with 50 tools of ten fields. */
export const idleSessions: Work = {
  name: 'sessions',
  run: async (plan, say) => {
    const load: Worker<LoadOrders> = startWorker('load')
    const samples: Sample[] = []
    try {
      for (const subject of [OURS, V1, V2, TMCP]) {
        const server = await startHttp(
          programOf(subject, 'http'),
          argumentOf(subject, { add: false, wide: 50 }),
        )
        try {
          await named(subject, load.ask('sessions', { port: server.port, count: FIRST_SESSIONS }))
          const before = await server.heap()
          await named(subject, load.ask('sessions', { port: server.port, count: plan.sessions }))
          const value = ((await server.heap()) - before) / plan.sessions / 1000
          say(`${subject.name} ${value.toFixed(1)} KB`)
          samples.push({ work: 'idle 2025 session, 50 tools', subject, value, unit: 'KB', better: 'less' })
        } finally {
          await server.close()
        }
      }
    } finally {
      await load.close()
    }
    return samples
  },
}
