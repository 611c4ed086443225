import type { Size } from './measure.ts'
import { TASKS } from './programs.ts'

/** The maximum compressed size of the browser client, in bytes. */
export const CLIENT_TARGETS = {
  single: 75_600,
  initial: 29_100,
  /** The initial chunks from the sources, which import each other more often than the few files of the package do. */
  sources: 29_300,
} as const

/**
 * How far our server may be above its target, the size of official v2. Most of the difference is the WebSocket library,
 * which every server includes; the rest grows with what the peer lacks (docs/notes/004-bundle-size.md).
 */
export const SERVER_EXCESS = 163_000

/** The exceeded targets: our server as one file must not be larger than official v2, and our client has fixed targets. */
export function breaches(sizes: readonly Size[]): readonly string[] {
  const server = find(sizes, 'Pierhead', TASKS.zod)
  const peer = find(sizes, 'official v2', TASKS.zod)
  const client = find(sizes, 'Pierhead', TASKS.client)
  const over = (subject: string, value: number, target: number): readonly string[] =>
    value > target ? [`${subject} is ${kilobytes(value)}, more than ${kilobytes(target)}`] : []
  return [
    ...over('the stdio server with zod, as one file,', server.single, peer.single + SERVER_EXCESS),
    ...over('the browser client, as one file,', client.single, CLIENT_TARGETS.single),
    ...over('the initial chunk of the browser client', client.initial, CLIENT_TARGETS.initial),
  ]
}

/** How far our server is above the size of official v2, which it should not exceed; negative when it is below. */
export function excessOf(sizes: readonly Size[]): number {
  const single = (subject: Size['subject']): number => find(sizes, subject, TASKS.zod).single
  return single('Pierhead') - single('official v2')
}

function find(sizes: readonly Size[], subject: Size['subject'], task: string): Size {
  const found = sizes.find((size) => size.subject === subject && size.task === task)
  if (found === undefined) throw new Error(`${subject} was not measured: ${task}`)
  return found
}

export function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`
}
