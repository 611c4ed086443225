import { isDuration, toMs } from '../base/duration.ts'
import { REVISIONS, type Revision } from '../protocol/revisions.ts'
import type { Flags } from './command.ts'
import { wrongUsage } from './failure.ts'
import type { ResolvedTarget } from './target.ts'

/** Rejects options that would do nothing, or that contradict each other. */
export function checkOptions(flags: Flags): void {
  if (flags.is('all') && !flags.is('allow-calls'))
    throw wrongUsage('--all needs --allow-calls', 'Write --allow-calls --all to call all tools.')
}

/** Options that a client has no use for. */
const NOT_FOR_CLIENTS = ['latency', 'timeout', 'header', 'framing'] as const

/** Rejects options that only servers have a use for. */
export function checkClientOptions(flags: Flags): void {
  const name = NOT_FOR_CLIENTS.find((one) => isGiven(flags, one))
  if (name !== undefined)
    throw wrongUsage(`--${name} is for servers`, 'Leave it out, or leave out --client to check a server.')
}

const WEB = /^(?:http|ws)s?:/i
const SOCKET = /^(?:tcp|tls|unix):/i

/** The options that apply to some targets only, and to which. */
const APPLIES: readonly (readonly [name: string, pattern: RegExp | undefined, where: string])[] = [
  ['framing', SOCKET, 'sockets: tcp://, tls:// and unix:'],
  ['header', WEB, 'http://, https://, ws:// and wss://'],
  ['env', undefined, 'programs'],
  ['inherit', undefined, 'programs'],
]

/** Rejects options that do not apply to a target. */
export function checkTargetOptions({ target }: ResolvedTarget, flags: Flags): void {
  const url = 'url' in target ? String(target.url) : undefined
  for (const [name, pattern, where] of APPLIES) {
    const isFor = pattern === undefined ? url === undefined : url !== undefined && pattern.test(url)
    if (isGiven(flags, name) && !isFor)
      throw wrongUsage(`--${name} applies only to ${where}`, `Remove --${name}.`)
  }
}

function isGiven(flags: Flags, name: string): boolean {
  return flags.list(name).length > 0 || flags.text(name) !== undefined
}

/** The revision that was asked for; a month is enough. */
export function revisionsOf(text: string | undefined): readonly Revision[] | undefined {
  if (text === undefined) return undefined
  const found = REVISIONS.find((one) => one === text || one.slice(0, 7) === text)
  if (found === undefined)
    throw wrongUsage(`"${text}" is not a revision`, `The revisions are ${REVISIONS.join(', ')}.`)
  return [found]
}

/** Targets such as `p99=50ms`, also several in one. */
export function latencyOf(texts: readonly string[]): Readonly<Record<string, number>> {
  const parts = texts.flatMap((text) => text.split(','))
  return Object.fromEntries(
    parts.map((part) => {
      const [, name, time] = /^(p(?:\d{1,2}(?:\.\d+)?|100))=(.+)$/.exec(part.trim()) ?? []
      if (name === undefined || !isDuration(time))
        throw wrongUsage(`--latency ${part} is not a target`, 'Write --latency p99=50ms or p50=0.1s.')
      return [name, toMs(time, '--latency')]
    }),
  )
}
