import { idText, type RequestId } from '../../../protocol/jsonrpc.ts'

/** Longer ids are not noted: every message of a client writes and reads the ids of all its running requests. */
const LONGEST = 256

/** Stands for requests whose ids are too long to note. No id looks like it as JSON. */
export const LONG_ID = '#'

/** What other nodes are told of the id of a running request: its JSON, or that it is too long. */
export function notedId(id: RequestId): string {
  return typeof id === 'string' && id.length > LONGEST ? LONG_ID : idText(id)
}

/** Whether a request may be noted by its id, which is given as JSON. A character takes up to six there. */
export function isNotable(id: string): boolean {
  return id.length <= 6 * LONGEST + 2
}
