import type { JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'

/** How what the client sends becomes what a revision wants. */
export interface Forms {
  request(method: string, params: JsonObject): JsonObject
  result(method: string, result: JsonObject): JsonObject
  notification(method: string, params: JsonObject): JsonObject
}

const same = (_: string, value: JsonObject): JsonObject => value

/** At the newest revision everything has its form already. */
export const NEWEST: Forms = { request: same, result: same, notification: same }

/** The forms of a revision; those of older ones are loaded when a server needs them. */
export async function formsOf(revision: Revision): Promise<Forms> {
  if (revision === LATEST) return NEWEST
  const { loweringFor, lowerNotification, lowerRequest, lowerResult } = await import('../wire/lower.ts')
  const lowering = loweringFor(revision)
  return {
    request: (method, params) => lowerRequest(method, params, lowering),
    result: (method, result) => lowerResult(method, result, lowering),
    notification: (method, params) => lowerNotification(method, params, lowering),
  }
}
