import { Deferred } from '../base/deferred.ts'
import { storedIn } from '../base/stored-member.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_ACCEPT } from '../errors/http.ts'
import { TASKS_EXTENSION } from '../protocol/meta.ts'
import { LATEST } from '../protocol/revisions.ts'
import { DIALECTS } from '../protocol/switches.ts'
import { Call, type Channel, type Peer } from '../rpc/call.ts'
import { badVerb } from '../transport/http/server/bad-verb.ts'
import { toJson } from '../transport/http/server/exchange.ts'
import { readAccept } from '../transport/http/server/negotiate.ts'
import {
  callerOf,
  type ExtraEndpoint,
  type Headers,
  type HttpHead,
  type HttpIn,
  type HttpOut,
} from '../transport/http/server/parts.ts'
import { sizeOf } from '../transport/http/server/responder.ts'
import { encodeJob } from './encode.ts'
import { EnvelopeEndpoint } from './envelope-endpoint.ts'
import { gone } from './responder.ts'

const PATH = /\/jobs\/([^/]+)$/
const OWN_PATH = /^\/jobs\/[^/]+$/
const METHOD = 'tasks/get'

/** A job changes by itself, so that nobody may keep an answer. */
const FRESH: Headers = { 'cache-control': 'no-store' }

/** Jobs have no session: the credentials, or the id alone, show whose they are. */
const PEER: Peer = {
  dialect: DIALECTS[LATEST],
  client: undefined,
  capabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  session: undefined,
}

const NO_CHANNEL: Channel = { emit: () => undefined }

/** Serves jobs at `/jobs/<id>`: the tasks of the server in the form of result envelopes. Each request becomes `tasks/get`. */
export class JobsEndpoint extends EnvelopeEndpoint {
  readonly paths: ExtraEndpoint['paths'] = { has: (path) => OWN_PATH.test(path) }
  protected readonly allowed = 'GET, HEAD, OPTIONS'

  owns(target?: string): boolean {
    return PATH.test(pathOf(target))
  }

  protected checkHead(head: HttpHead): void {
    if (head.method !== 'GET' && head.method !== 'HEAD') throw badVerb(head.method, 'read jobs with GET')
    if (!readAccept(head).json) throw mcpError(BAD_ACCEPT, {})
  }

  protected respond(request: HttpIn, cors: Headers, begun: number): HttpOut | Promise<HttpOut> {
    const [, taskId] = PATH.exec(pathOf(request.target)) ?? []
    // The request has no id of its own, and the log needs one.
    const parts = { peer: PEER, channel: NO_CHANNEL, source: request }
    const call = new Call(crypto.randomUUID(), METHOD, { taskId }, parts)
    const headers = { ...cors, ...FRESH }
    return this.inFlight.run(call, {
      caller: callerOf(request),
      size: sizeOf(request),
      isInBatch: false,
      calls: undefined,
      // A long result is not read for nothing.
      encode: (_call, task) =>
        request.method === 'HEAD' && storedIn(task) !== undefined ? '' : encodeJob(task, this.service.info),
      result: (_call, text) => replyTo(request, toJson(200, text, headers)),
      error: (_call, error) => replyTo(request, this.errorReply(undefined, error, headers, begun)),
      cancelled: () => ({ status: 204, headers }),
      pending: () => {
        request.onGone(() => call.cancel(gone(METHOD)))
        return new Deferred<HttpOut>()
      },
    })
  }
}

function pathOf(target = ''): string {
  return target.split('?', 1)[0] as string
}

/** The reply to a request, which has no body if the request has the method HEAD. */
function replyTo({ method }: HttpIn, out: HttpOut): HttpOut {
  if (method !== 'HEAD') return out
  const { status, headers, body } = out
  if (body === '') return { status, headers }
  const { length } = new TextEncoder().encode(body as string)
  return { status, headers: { ...headers, 'content-length': String(length) } }
}
