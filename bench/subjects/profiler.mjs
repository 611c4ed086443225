import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'

const INTERVAL_MICROS = 200

/** Profiles this process from now on, and writes the profile when it exits. */
export function profileInto(file) {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: INTERVAL_MICROS })
  session.post('Profiler.start')
  const startedAt = Number(process.hrtime.bigint() / 1000n)
  process.on('exit', () =>
    session.post('Profiler.stop', (_, { profile }) =>
      writeFileSync(`${file}-${process.pid}.json`, JSON.stringify({ startedAt, profile })),
    ),
  )
}
