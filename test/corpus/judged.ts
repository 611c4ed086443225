import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { isMethodAt, methodRow } from '../../src/protocol/methods.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { lowerNotification, lowerRequest, lowerResult, loweringFor } from '../../src/wire/lower.ts'
import type { Official } from './checker.ts'
import { toWire, type Example } from './corpus.ts'

/** What the official schema says against an example of a revision. */
export function complaintsAbout(example: Example, revision: Revision, official: Official): readonly string[] {
  const message = toWire(example, revision)
  const result = 'jsonrpc' in message ? (message['result'] as JsonObject) : message
  const complaint =
    example.kind !== 'result'
      ? official.message(example.method, message)
      : 'task' in result
        ? official.shape('CreateTaskResult', result)
        : official.result(example.method, result)
  return complaint === undefined ? [] : [`${example.kind} ${example.method} "${example.name}": ${complaint}`]
}

/**
 * Whether a message of the newest revision has an older form. The answer to a form has none: a client answers the
 * form that it was sent, so there is nothing to lower. Cancelling a task answers nothing, but the task at 2025-11-25.
 */
export function isSharedBy({ kind, method }: Pick<Example, 'kind' | 'method'>, revision: Revision): boolean {
  const row = methodRow(method)
  if (kind === 'result' && (method === 'elicitation/create' || method === 'tasks/cancel')) return false
  return row !== undefined && isMethodAt(row, revision)
}

/** Whether a request continues an earlier one with the answers it asked for; only the newest revision has such rounds. */
export function isRound({ kind, value }: Example): boolean {
  return kind === 'request' && ('inputResponses' in value || 'requestState' in value)
}

/** An example of the newest revision in the form of an older one. */
export function lowered(example: Example, revision: Revision): Example {
  const lower = { request: lowerRequest, result: lowerResult, notification: lowerNotification }[example.kind]
  return { ...example, value: lower(example.method, example.value, loweringFor(revision)) }
}

const CLOSED: ReadonlyMap<string, string> = new Map([
  ['result initialize', 'InitializeResult'],
  ['result tools/list', 'ListToolsResult'],
  ['result tools/call', 'CallToolResult'],
  ['result resources/list', 'ListResourcesResult'],
  ['result resources/templates/list', 'ListResourceTemplatesResult'],
  ['result resources/read', 'ReadResourceResult'],
  ['result prompts/list', 'ListPromptsResult'],
  ['result prompts/get', 'GetPromptResult'],
  ['result sampling/createMessage', 'CreateMessageResult'],
])

/** What is wrong with a lowered example, members included that are foreign to the older revision. */
export function complaintsAboutLowered(
  example: Example,
  revision: Revision,
  official: Official,
): readonly string[] {
  const { kind, method, value } = example
  const closed = CLOSED.get(`${kind} ${method}`)
  const complaints = [
    kind === 'result' ? official.result(method, value) : official.message(method, toWire(example, revision)),
    closed === undefined ? undefined : official.shape(closed, value, 'closed'),
    ...foreignMembers(method, value).map((name) => `${name} in ${method}`),
  ]
  return complaints.filter((complaint) => complaint !== undefined)
}

function foreignMembers(method: string, value: JsonObject): readonly string[] {
  return methodRow(method)?.cached === true ? ['ttlMs', 'cacheScope'].filter((name) => name in value) : []
}
