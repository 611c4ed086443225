import type { Machine } from './machine.ts'
import type { Row } from './measure.ts'
import { STEADY_UNITS } from './regressions.ts'
import { OURS } from './subjects.ts'

/** An explanation of the numbers, printed above them. */
export function headerText(machine: Machine): string {
  return [
    `Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores, load ${machine.loadBefore} before the run, calibration loop ${machine.calibration} M steps/s`,
    'One operation is one answered request, and every answer is checked: the sum for a call (for each call of a batch), the length for a list. A wrong answer fails its workload.',
    'tools/call is add(a, b) with validated input and a zod schema unless noted; peers answer in the cheapest way that they document: v1, v2 and fastmcp as JSON, tmcp as a stream.',
    'The handler of add is synchronous and returns a string where the library accepts one. "content object": it returns { content: [{ type, text }] }. "async handler": an async function that awaits nothing and returns a content object. "awaits a socket": one that awaits a line sent to an echo server in its process and back.',
    'The limit is bare Node: JSON.parse, the same handler, awaited if it is async, and JSON.stringify; for lists and event streams it writes the same bytes as our server. Like our server, it writes answers together that are ready in the same turn.',
    'Each server runs in its own process and the load generator in another; the operating system schedules both.',
    'HTTP: 32 keep-alive connections (8 for lists) with one request in flight each. In process: 64 calls in flight (7 batches of ten), server and client share the thread.',
    'TCP and WebSocket: connections × calls in flight on each, one message per line or text frame; every byte of every answer is compared. The limit is a bare socket with the same framing, or the library `ws` on a corked socket.',
    'Latency: calls are sent at a fixed rate, a percentage of the maximum rate of our server, regardless of the answers. Latency counts from the scheduled send time, so that a stall counts for every call that it delays. The sender spins on its own core. The limit gets the same rate.',
    'In memory: each layer is named after what it measures; only the last two are answered messages.',
    'Sessions held: three server processes and three with clients; each session is opened, pinged, held, and counts only if it answers a last ping (over SSE also if its stream then tells of a change). KB is the growth of the resident memory of the servers after a full collection.',
    'Clients: one call in flight, each client in its own process, all against our server; the limit is bare fetch or a bare pipe. Official v1 speaks 2025-11-25 in both.',
    'Growing numbers of tools or sessions: one server for each number, all in one process, since processes differ by chance. They are called in turn in short rounds, each call in a different session, and their CPU time is compared round by round.',
    'Long run: calls without a pause; the heap is compared after full collections, from the sixth second to the last. Session size is heap after a full collection.',
    'Before its first round, every subject answers a fixed number of calls, so that V8 has compiled what they run. Rounds are interleaved (A B C, B C A, …); a value is the median of its rounds.',
    'Ratios divide values: above 1 is better for rates, below 1 for times and sizes. "busy": other programs or other machines on the same host used more than a quarter of a core in most rounds of the subject or of the limit.',
  ].join('\n')
}

/** A ratio this far beyond the limit is not noise. */
const BEYOND = 1.1

/** The rows in which we beat the limit: it is then not a limit, because it does something that we do not. */
export function beatenText(rows: readonly Row[]): string {
  const beaten = rows.filter(({ subject, unit, better, ratioToLimit }) => {
    if (!subject.startsWith(OURS.name) || !STEADY_UNITS.has(unit) || ratioToLimit === null) return false
    return (better === 'more' ? ratioToLimit : 1 / ratioToLimit) > BEYOND
  })
  if (beaten.length === 0) return ''
  const lines = beaten.map((row) => `  ${row.work} (${row.unit}), ${row.subject}: ${row.ratioToLimit}`)
  return ['Not limits, because our server beats them:', ...lines].join('\n')
}

/** The rows as text, one block per workload. */
export function tableText(rows: readonly Row[]): string {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const title = `${row.work} (${row.unit})`
    groups.set(title, [...(groups.get(title) ?? []), row])
  }
  return [...groups].map(([title, group]) => `${title}\n${group.map(lineText).join('\n')}`).join('\n\n')
}

/** Every goal of the rows with the measured value, and whether it is met. */
export function goalsText(rows: readonly Row[]): string {
  const judged = rows.flatMap((row) => (row.goals ?? []).map((verdict) => ({ row, ...verdict })))
  if (judged.length === 0) return ''
  const lines = judged.map(({ row, goal, found, met }) => {
    const name = `${row.work}, ${row.unit}${row.subject === 'pierhead' ? '' : ` (${row.subject})`}`
    return `${met ? 'met ' : 'OPEN'}  ${name.padEnd(92)} ${formatted(found).padStart(8)}  ${goal}${row.busy ? '  busy' : ''}`
  })
  const met = judged.filter((verdict) => verdict.met).length
  return `Goals\n${lines.join('\n')}\n${met} of ${judged.length} goals met`
}

function lineText({ subject, value, ratioToLimit, ratioToBestPeer, busy, goals = [] }: Row): string {
  const limit = ratioToLimit === null ? '' : `${ratioToLimit.toFixed(2)} × limit`
  const peer = ratioToBestPeer === null ? '' : `${ratioToBestPeer.toFixed(2)} × best peer`
  const wanted = goals.map(({ goal, met }) => `  goal ${goal}: ${met ? 'met' : 'not met'}`).join('')
  const cells = `${`  ${subject}`.padEnd(26)}${formatted(value).padStart(12)}${limit.padStart(16)}${peer.padStart(20)}`
  return `${cells}${busy ? '  busy' : ''}${wanted}`.trimEnd()
}

function formatted(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value >= 1000 ? 6 : 3 })
}
