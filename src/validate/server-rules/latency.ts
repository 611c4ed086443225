import { ALL, failed, noted, TRANSPORTS, unchecked, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'

/** How many requests are measured, how many before them are not, and the most time for all. */
const MEASURED = 100
const WARMING = 5
const MOST_MS = 3_000
const SHOWN = [50, 95, 99]

/** Our own check of how quickly a server answers. `now` is the clock. */
export function latencyRules(now: () => number = () => performance.now()): readonly Rule<ServerSubject>[] {
  return [
    {
      id: 'V040',
      level: 'must',
      revisions: ALL,
      transports: TRANSPORTS,
      rule: 'The server answers within the latency targets of --latency.',
      how: `Sends up to ${MEASURED} small requests, one after the other, and sorts the times until their answers; without --latency it only reports them.`,
      fix: 'Find out what slows small requests down: the network, a proxy, or work that blocks the server.',
      async check(subject) {
        const session = await subject.shared()
        const until = now() + MOST_MS
        const times: number[] = []
        for (let at = 0; at < WARMING + MEASURED && now() < until; at++) {
          const began = now()
          const { message, problem } = await session.request(subject.isModern ? 'server/discover' : 'ping')
          if (message === undefined) return unchecked(problem ?? 'a request was not answered')
          // A very slow server has answered only the first ones.
          if (at >= WARMING || now() >= until) times.push(now() - began)
        }
        if (times.length === 0) return unchecked('the time was over before a request could be measured')
        times.sort((one, two) => one - two)
        const targets = Object.entries(subject.latency)
        const names = new Set([...SHOWN.map((one) => `p${one}`), ...targets.map(([name]) => name)])
        const text = `${[...names].map((name) => `${name} ${shown(percentile(times, name))}`).join(', ')} (${times.length} requests)`
        const missed = targets.find(([name, most]) => percentile(times, name) > most)
        return missed === undefined
          ? noted(text)
          : failed(`${missed[0]} is above ${shown(missed[1])}: ${text}`, [])
      },
    },
  ]
}

/** The time within which so many of a hundred requests were answered. */
function percentile(sorted: readonly number[], name: string): number {
  const share = Number(name.slice(1)) / 100
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

function shown(ms: number): string {
  // A target may be so short that two decimals would make it 0.
  const short = Number(ms.toFixed(2)) || Number(ms.toPrecision(2))
  return `${ms < 10 ? short : Math.round(ms)} ms`
}
