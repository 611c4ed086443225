import type { Machine } from './machine.ts'
import type { Row } from './measure.ts'

/** What the numbers mean, printed above them. */
export function headerText(machine: Machine): string {
  return [
    `Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores, load ${machine.loadBefore} before the run, calibration loop ${machine.calibration} M steps/s`,
    'One operation is one answered request, checked: the sum for a call (each one in a batch), the length for a list. A wrong answer ends its work.',
    'tools/call is add(a, b) with a validated input, described with zod unless said otherwise; peers answer in the cheapest way that they document: v1 and v2 as JSON, tmcp as a stream.',
    'The limit is bare Node: JSON.parse, the addition, JSON.stringify; for lists and event streams it writes the same bytes as our server.',
    'Each server is its own process; the load comes from one other process; the operating system places both on the cores.',
    'HTTP: 32 keep-alive connections (8 for lists) with one request in flight each. In process: 64 calls in flight (7 batches of ten), server and client share the thread.',
    'TCP and WebSocket: connections × calls in flight on each, one message a line or a text frame; every byte of every answer is compared. The limit is a bare socket with the same framing, or the library `ws` alone.',
    'Latency: calls leave at a fixed rate, per cent of the most that our server answers, whatever is answered; a call counts from when it was to be sent, so that a stall is charged to all that it delays. The sender spins on a core of its own. The limit gets the same rate.',
    'In memory: each rung is named for what it is; only the last two are answered messages.',
    'Sessions held: three server processes and three with clients; each session is opened, pinged, held, and counts only if it answers a last ping (over SSE also if its stream then tells of a change). KB is the growth of the resident memory of the servers after a full collection.',
    'Clients: one call in flight, each client in its own process, all against our server; the limit is bare fetch or a bare pipe. Official v1 speaks 2025-11-25 in both.',
    'Numbers of tools or sessions: a server for each, all in one process, since processes differ by chance; they are called in turn in short rounds, each call in another session, and compared round by round in CPU time.',
    'A long run: one second after the other without a pause; the heap is compared after full collections, from the sixth second to the last. Session size is heap after full collection.',
    'Rounds are interleaved (A B C, B C A, …); a value is the median of its rounds.',
    'Ratios are value / value: above 1 is better for rates, below 1 for times and sizes. "busy": other programs used over a quarter of a core.',
  ].join('\n')
}

/** The rows as text, a block for each work. */
export function tableText(rows: readonly Row[]): string {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const title = `${row.work} (${row.unit})`
    groups.set(title, [...(groups.get(title) ?? []), row])
  }
  return [...groups].map(([title, group]) => `${title}\n${group.map(lineText).join('\n')}`).join('\n\n')
}

/** Every goal that the rows were judged by: what was wanted, what was found, and whether it is enough. */
export function goalsText(rows: readonly Row[]): string {
  const judged = rows.flatMap((row) => (row.goals ?? []).map((verdict) => ({ row, ...verdict })))
  if (judged.length === 0) return ''
  const lines = judged.map(({ row, goal, found, met }) => {
    const name = `${row.work}, ${row.unit}${row.subject === 'pierhead' ? '' : ` (${row.subject})`}`
    return `${met ? 'met ' : 'OPEN'}  ${name.padEnd(92)} ${shown(found).padStart(8)}  ${goal}${row.busy ? '  busy' : ''}`
  })
  const met = judged.filter((verdict) => verdict.met).length
  return `Goals\n${lines.join('\n')}\n${met} of ${judged.length} goals met`
}

function lineText({ subject, value, ratioToLimit, ratioToBestPeer, busy, goals = [] }: Row): string {
  const limit = ratioToLimit === null ? '' : `${ratioToLimit.toFixed(2)} × limit`
  const peer = ratioToBestPeer === null ? '' : `${ratioToBestPeer.toFixed(2)} × best peer`
  const wanted = goals.map(({ goal, met }) => `  goal ${goal}: ${met ? 'met' : 'not met'}`).join('')
  const cells = `${`  ${subject}`.padEnd(26)}${shown(value).padStart(12)}${limit.padStart(16)}${peer.padStart(20)}`
  return `${cells}${busy ? '  busy' : ''}${wanted}`.trimEnd()
}

function shown(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value >= 1000 ? 6 : 3 })
}
