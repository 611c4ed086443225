import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { LATEST, type Revision } from '../../src/protocol/revisions.ts'
import type { SWITCHES } from '../../src/protocol/switches.ts'
import type { Step } from './scripts.ts'

/** What only HTTP shows. */
export type HttpSwitch = 'paramHeaders' | 'disconnect' | 'priming'

const CLIENT = { name: 'transcript', version: '1' }
const SAMPLED = {
  role: 'assistant',
  content: { type: 'text', text: 'Yes.' },
  model: 'm',
  stopReason: 'endTurn',
}

/** A request in the way of a revision. */
export function asked(
  revision: Revision,
  id: number,
  method: string,
  params: JsonObject = {},
  capabilities: JsonObject = {},
): JsonObject {
  const envelope = {
    [META.protocolVersion]: revision,
    [META.clientCapabilities]: capabilities,
    [META.clientInfo]: CLIENT,
  }
  const meta = { ...(params['_meta'] as JsonObject | undefined), ...(revision === LATEST ? envelope : {}) }
  const whole = Object.keys(meta).length === 0 ? params : { ...params, _meta: meta }
  return { jsonrpc: '2.0', id, method, params: whole }
}

/** The handshake, where the revision has one. */
export function opened(revision: Revision, capabilities: JsonObject = {}): readonly JsonObject[] {
  if (revision === LATEST) return []
  const params = { protocolVersion: revision, capabilities, clientInfo: CLIENT }
  return [asked(revision, 1, 'initialize', params), { jsonrpc: '2.0', method: 'notifications/initialized' }]
}

type Scripted = Exclude<keyof typeof SWITCHES, HttpSwitch>

/** For each switch that a revision decides an exchange that differs between its values. */
export const REVISION_SCRIPTS: Readonly<Record<Scripted, (revision: Revision) => readonly Step[]>> = {
  opening: (revision) => [
    ...opened(revision),
    asked(revision, 2, 'tools/call', { name: 'add', arguments: { a: 1 } }),
  ],
  batch: (revision) => [
    ...opened(revision),
    [
      asked(revision, 2, 'tools/call', { name: 'none' }),
      asked(revision, 3, 'tools/call', { name: 'missing' }),
    ],
  ],
  questions: (revision) => [
    ...opened(revision, { sampling: {} }),
    asked(revision, 2, 'tools/call', { name: 'judge' }, { sampling: {} }),
    { answer: 'sampling/createMessage', result: SAMPLED },
  ],
  argumentErrors: (revision) => [
    ...opened(revision),
    asked(revision, 2, 'tools/call', { name: 'add', arguments: { a: 'x' } }),
  ],
  logLevel: (revision) => [
    ...opened(revision),
    asked(revision, 2, 'logging/setLevel', { level: 'debug' }),
    asked(revision, 3, 'tools/call', { name: 'tell', _meta: { [META.logLevel]: 'debug' } }),
  ],
  changes: (revision) => [
    ...opened(revision),
    asked(revision, 2, 'resources/subscribe', { uri: 'bytes://few' }),
    asked(revision, 3, 'subscriptions/listen', { notifications: { resourceSubscriptions: ['bytes://few'] } }),
    asked(revision, 4, 'tools/call', { name: 'touch' }),
  ],
  tasks: (revision) => [
    ...opened(revision),
    asked(revision, 2, 'tools/call', { name: 'later' }),
    asked(revision, 3, 'tasks/get', { taskId: 'unknown' }),
  ],
  emptyCursor: (revision) => [...opened(revision), asked(revision, 2, 'prompts/list', { cursor: '' })],
}
