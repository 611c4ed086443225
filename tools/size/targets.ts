import type { Size } from './measure.ts'
import { TASKS } from './programs.ts'

/** What the browser client may weigh, in bytes, compressed. */
export const CLIENT_TARGETS = { single: 60_000, initial: 25_000 } as const

/** What exceeds its target: our server as one file must not outweigh the one of official v2, our client has fixed targets. */
export function breaches(sizes: readonly Size[]): readonly string[] {
  const find = (subject: Size['subject'], task: string): Size => {
    const found = sizes.find((size) => size.subject === subject && size.task === task)
    if (found === undefined) throw new Error(`${subject} was not measured: ${task}`)
    return found
  }
  const [server, peer] = [find('Pierhead', TASKS.zod), find('official v2', TASKS.zod)]
  const client = find('Pierhead', TASKS.client)
  const over = (what: string, value: number, most: number): readonly string[] =>
    value > most ? [`${what} is ${kilobytes(value)}, more than ${kilobytes(most)}`] : []
  return [
    ...over('the stdio server with zod, as one file,', server.single, peer.single),
    ...over('the browser client, as one file,', client.single, CLIENT_TARGETS.single),
    ...over('the initial chunk of the browser client', client.initial, CLIENT_TARGETS.initial),
  ]
}

export function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`
}
