import type { RequestId } from '../../protocol/jsonrpc.ts'

/** The id of the request in a text, read from its first characters: the text may be truncated or invalid. */
export function askedId(text: string): RequestId | undefined {
  const head = text.slice(0, EDGE)
  const members = new Map<string, string>()
  MEMBER.lastIndex = 0
  for (let found = MEMBER.exec(head); found !== null; found = MEMBER.exec(head))
    members.set(found[1]!, found[2]!)
  const id = members.get('id')
  if (id === undefined || !members.has('method')) return undefined
  try {
    return JSON.parse(id) as RequestId
  } catch {
    return undefined
  }
}

const EDGE = 512
/** Matches one of the first members of a message if its value is a short string or integer. */
const MEMBER = /\s*[{,]\s*"(jsonrpc|id|method)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d{1,15})(?=\s*[,}])/y
