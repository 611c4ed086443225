import type { Machine } from './machine.ts'
import type { Row } from './measure.ts'

/** What the numbers mean, printed above them. */
export function headerText(machine: Machine): string {
  return [
    `Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores, load ${machine.loadBefore} before the run, calibration loop ${machine.calibration} M steps/s`,
    'One operation is one answered request, checked: the sum for a call, the length for a list. A wrong answer ends the run.',
    'tools/call is add(a, b) with a validated input, described with zod unless said otherwise; peers answer as they do by default.',
    'The limit is bare Node: JSON.parse, the addition, JSON.stringify; for lists the same bytes from memory.',
    'Each server is its own process; the load comes from one other process; the operating system places both.',
    'HTTP: 32 keep-alive connections (8 for lists) with one request in flight each. In process: 64 calls in flight, server and client share the thread.',
    'Clients: one call in flight, each client in its own process, all against our server; the limit is bare fetch or a bare pipe. Official v1 speaks 2025-11-25 in both.',
    'Rounds are interleaved (A B C, B C A, …); a value is the median of its rounds. Session size is heap after full collection.',
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

function lineText({ subject, value, ratioToLimit, ratioToBestPeer, busy }: Row): string {
  const cells = [
    `  ${subject}`.padEnd(26),
    shown(value).padStart(12),
    ratioToLimit === null ? '' : `${ratioToLimit.toFixed(2)} × limit`,
    ratioToBestPeer === null ? '' : `${ratioToBestPeer.toFixed(2)} × best peer`,
  ]
  const [name, number, limit, peer] = cells as [string, string, string, string]
  return `${name}${number}${limit.padStart(16)}${peer.padStart(20)}${busy ? '  busy' : ''}`.trimEnd()
}

function shown(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value >= 1000 ? 6 : 3 })
}
