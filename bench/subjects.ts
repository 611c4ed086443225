import { join, resolve } from 'node:path'
import { type HandlerKind, TEXT } from './kinds.ts'

/** A measured program in `bench/subjects`, with the options it is started with. */
export interface Subject {
  readonly name: string
  readonly role: 'limit' | 'ours' | 'peer'
  readonly file: string
  /** The npm package of a peer. */
  readonly package?: string
  readonly options?: Readonly<Record<string, unknown>>
}

export const LIMIT: Subject = { name: 'limit', role: 'limit', file: 'limit' }
/** What tasks in Redis are compared with. */
export const BULLMQ: Subject = { name: 'bare BullMQ', role: 'limit', file: 'bullmq' }
/** A bare server that looks each session up in a map or in Redis. */
export const LIMIT_SESSIONS: Subject = { name: 'limit', role: 'limit', file: 'limit-sessions' }
export const OURS: Subject = { name: 'pierhead', role: 'ours', file: 'pierhead' }
/** The same server with its tools in JSON Schema, so that no schema library is loaded. */
export const OURS_JSON: Subject = {
  name: 'pierhead, JSON Schema',
  role: 'ours',
  file: 'pierhead',
  options: { schema: 'json' },
}
/** The same server without `auth`, which ignores tokens. */
export const OURS_OPEN: Subject = { name: 'pierhead without auth', role: 'ours', file: 'pierhead' }
/** The same again, for requests without a token: what the bytes of the header alone cost in Node. */
export const OURS_NO_TOKEN: Subject = {
  name: 'pierhead without auth and token',
  role: 'ours',
  file: 'pierhead',
}
/** The same server with its sessions in the memory of its process, next to one that has them in Redis. */
export const OURS_IN_MEMORY: Subject = { name: 'pierhead in memory', role: 'ours', file: 'pierhead' }
export const V1: Subject = {
  name: 'official v1',
  role: 'peer',
  file: 'official-v1',
  package: '@modelcontextprotocol/sdk',
}
export const V2: Subject = {
  name: 'official v2',
  role: 'peer',
  file: 'official-v2',
  package: '@modelcontextprotocol/server',
}
export const TMCP: Subject = { name: 'tmcp', role: 'peer', file: 'tmcp', package: 'tmcp' }
export const FASTMCP: Subject = { name: 'fastmcp', role: 'peer', file: 'fastmcp', package: 'fastmcp' }

/** All subjects; each of them serves 2025-11-25. */
export const ALL: readonly Subject[] = [LIMIT, OURS, V1, V2, TMCP, FASTMCP]

/** The subjects that serve 2026-07-28. */
export const AT_2026: readonly Subject[] = [LIMIT, OURS, V2, TMCP]

/** The subjects that a run measures; a short run leaves out the peers. */
export function selectSubjects(
  subjects: readonly Subject[],
  { peers }: { readonly peers: boolean },
): readonly Subject[] {
  return peers ? subjects : subjects.filter(({ role }) => role !== 'peer')
}

/** Adds our server with JSON Schema, which is compared only where the handler is of the simplest kind. */
export function withJsonSchema(subjects: readonly Subject[], kind: HandlerKind): readonly Subject[] {
  return kind === TEXT ? [...subjects, OURS_JSON] : subjects
}

/** The kind of a subject's program. */
export type Program = 'http' | 'stdio' | 'tcp' | 'ws' | 'memory' | 'client'

/** The program of a subject for one transport, or its client. */
export function programOf(subject: Subject, transport: Program): string {
  return resolve('bench', 'subjects', `${subject.file}-${transport}.mjs`)
}

/** The argument that a subject's program is started with. */
export function argumentOf(subject: Subject, more: Readonly<Record<string, unknown>> = {}): string {
  const profile = profiles === undefined ? {} : { profile: profileFileOf(subject) }
  return JSON.stringify({ ...subject.options, ...more, ...profile })
}

let profiles: string | undefined

/** From now on, every subject that is started writes a CPU profile into a folder when it exits. */
export function profileSubjectsInto(folder: string | undefined): void {
  profiles = folder
}

/** The beginning of the paths of a subject's profiles; each process adds its own ending. */
export function profileFileOf({ name }: Subject): string {
  return join(profiles ?? '', name)
}
