import { mcpError } from '../../../errors/error.ts'
import { BAD_ACCEPT, BAD_ENCODING, BAD_TRANSFER, BAD_TYPE, VERSION_HEADER } from '../../../errors/http.ts'
import { isRevision, REVISIONS, type Revision } from '../../../protocol/revisions.ts'
import { badVerb } from './bad-verb.ts'
import type { HttpHead } from './parts.ts'

/** Which forms of reply a client accepts. */
export interface Accepts {
  readonly json: boolean
  readonly events: boolean
}

const BOTH: Accepts = { json: true, events: true }
const known = new Map<string, Accepts>()

/** Reads the Accept header; `*` and no header mean both forms. */
export function readAccept(head: HttpHead): Accepts {
  const header = head.header('accept')
  if (header === undefined || header === '') return BOTH
  let accepts = known.get(header)
  if (accepts === undefined) {
    accepts = parseAccept(header)
    if (known.size < 64) known.set(header, accepts)
  }
  return accepts
}

/** Reads the version header; rejects unknown revisions. */
export function readVersion(head: HttpHead): Revision | undefined {
  const version = head.header('mcp-protocol-version')
  if (version === undefined || isRevision(version)) return version
  throw mcpError(VERSION_HEADER, { version: version.slice(0, 64) }, { data: { supported: REVISIONS } })
}

/** Rejects a request with an unknown method, or with a body or a reply in another form than ours. */
export function checkHead(head: HttpHead): void {
  if (head.method === 'POST') checkContent(head)
  else if (head.method !== 'GET' && head.method !== 'DELETE') throw badVerb(head.method)
  const accepts = readAccept(head)
  if (!accepts.json && !accepts.events) throw mcpError(BAD_ACCEPT, {})
}

/** Rejects a body that is not plain JSON. */
export function checkContent(head: HttpHead): void {
  const type = head.header('content-type')
  if (type !== 'application/json' && !isJson(type)) throw mcpError(BAD_TYPE, {})
  const encoding = head.header('content-encoding')
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw mcpError(BAD_ENCODING, { encoding: encoding.slice(0, 64) })
  }
  // Node reads the chunks and passes on what they contain, even if another coding was applied to it.
  const transfer = head.header('transfer-encoding')
  if (transfer !== undefined && /,[ \t]*chunked$/i.test(transfer)) {
    throw mcpError(BAD_TRANSFER, { encoding: transfer.slice(0, 64) })
  }
}

function parseAccept(header: string): Accepts {
  const types = header.split(',').flatMap((part) => {
    const [type = '', ...params] = part.split(';').map((piece) => piece.trim().toLowerCase())
    return params.some((param) => /^q=0(\.0*)?$/.test(param)) ? [] : [type]
  })
  const any = types.includes('*/*')
  return {
    json: any || types.includes('application/json') || types.includes('application/*'),
    events: any || types.includes('text/event-stream') || types.includes('text/*'),
  }
}

function isJson(header: string | undefined): boolean {
  const [type = '', ...params] = (header ?? '').split(';').map((piece) => piece.trim().toLowerCase())
  if (type !== 'application/json') return false
  return params.every((param) => !param.startsWith('charset=') || /^charset="?utf-?8"?$/.test(param))
}
