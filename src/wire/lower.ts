import type { JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST, REVISIONS, type Revision } from '../protocol/revisions.ts'
import { lowering as to20241105 } from './2024-11-05/lower.ts'
import { lowering as to20250326 } from './2025-03-26/lower.ts'
import { lowering as to20250618 } from './2025-06-18/lower.ts'
import { lowering as to20251125 } from './2025-11-25/lower.ts'
import { compose } from './compose.ts'
import type { Lowering, Step } from './lowering.ts'

export type { Lowering } from './lowering.ts'

/** The lowering from the newest revision to another; none for the newest itself. */
export function loweringFor(revision: Revision): Lowering {
  let lowering = composed.get(revision)
  if (lowering === undefined) {
    lowering = compose(loweringFor(newerThan(revision)), STEPS[revision])
    composed.set(revision, lowering)
  }
  return lowering
}

/** A result in the form of a revision. */
export function lowerResult(method: string, result: JsonObject, lowering: Lowering): JsonObject {
  return lower(RESULTS.get(method), result, lowering)
}

/** The params of a request in the form of a revision. */
export function lowerRequest(method: string, params: JsonObject, lowering: Lowering): JsonObject {
  return lower(REQUESTS.get(method), params, lowering)
}

/** The params of a notification in the form of a revision. */
export function lowerNotification(method: string, params: JsonObject, lowering: Lowering): JsonObject {
  return lower(NOTIFICATIONS.get(method), params, lowering)
}

type Shape = Exclude<keyof Lowering, 'supportsUrl' | 'elicitAnswer'>

const RESULTS: ReadonlyMap<string, Shape> = new Map([
  ['initialize', 'initializeResult'],
  ['tools/list', 'toolList'],
  ['tools/call', 'callResult'],
  ['resources/list', 'resourceList'],
  ['resources/templates/list', 'templateList'],
  ['resources/read', 'readResult'],
  ['prompts/list', 'promptList'],
  ['prompts/get', 'promptResult'],
  ['tasks/get', 'task'],
  ['tasks/cancel', 'task'],
  ['tasks/list', 'taskList'],
  ['tasks/result', 'callResult'],
  ['sampling/createMessage', 'sampleResult'],
  ['roots/list', 'rootsResult'],
] as const)

const REQUESTS: ReadonlyMap<string, Shape> = new Map([
  ['initialize', 'initializeParams'],
  ['completion/complete', 'complete'],
  ['elicitation/create', 'elicit'],
  ['sampling/createMessage', 'sample'],
] as const)

const NOTIFICATIONS: ReadonlyMap<string, Shape> = new Map([
  ['notifications/progress', 'progress'],
  ['notifications/tasks/status', 'task'],
] as const)

function lower(shape: Shape | undefined, value: JsonObject, lowering: Lowering): JsonObject {
  if (shape === undefined) return value
  const step = lowering[shape] as Step<JsonObject> | undefined
  return step === undefined ? value : step(value)
}

const STEPS: Readonly<Record<Revision, Lowering>> = {
  '2024-11-05': to20241105,
  '2025-03-26': to20250326,
  '2025-06-18': to20250618,
  '2025-11-25': to20251125,
  '2026-07-28': {},
}

const composed = new Map<Revision, Lowering>([[LATEST, {}]])

function newerThan(revision: Revision): Revision {
  return REVISIONS[REVISIONS.indexOf(revision) + 1] ?? LATEST
}
