import type { Clock, Timed } from './clock.ts'

/** The number of stops of each clock that is stopped. */
const stops = new WeakMap<Clock, number>()
/** The functions that start the clocks of members again. */
const resumes = new WeakMap<Clock, (() => void)[]>()

/**
 * Stops a clock, its members and their clocks. It goes on when the returned function was called, and those of all other stops
 * at the same time.
 */
export function stopClock(clock: Clock): () => void {
  if (clock.stoppedAt === undefined) stop(clock)
  stops.set(clock, (stops.get(clock) ?? 0) + 1)
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    const left = (stops.get(clock) as number) - 1
    stops.set(clock, left)
    if (left === 0) start(clock)
  }
}

function stop(clock: Clock): void {
  const others: (() => void)[] = []
  resumes.set(clock, others)
  clock.stoppedAt = performance.now()
  clock.onJoin = (member: Timed) => {
    if (member.clock === clock) member.stop()
    else others.push(stopClock(member.clock))
  }
  for (const member of clock.members) clock.onJoin(member)
}

function start(clock: Clock): void {
  clock.begun += performance.now() - (clock.stoppedAt as number)
  clock.stoppedAt = undefined
  clock.onJoin = undefined
  for (const resume of resumes.get(clock) ?? []) resume()
  for (const member of clock.members) if (member.clock === clock) member.start()
}
