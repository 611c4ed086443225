import { McpError, mcpError } from '../../errors/error.ts'
import { REVISION_UNSUPPORTED } from '../../errors/wire.ts'
import type { Message } from '../../protocol/jsonrpc.ts'
import { LATEST } from '../../protocol/revisions.ts'
import type { OutgoingRequest } from '../../rpc/client-transport.ts'
import { Deadline } from '../../rpc/deadline.ts'
import type { MessageStream } from '../../rpc/message-stream.ts'

/**
 * Sends requests to a program that may take long to start. A client that gets no response to `server/discover` in time
 * sends `initialize`. If the response arrives after all, and before that to `initialize`, then `initialize` fails with the error of a
 * server that supports the newest revision, so that the client uses that one.
 */
export function withLateDiscovery(messages: MessageStream): (outgoing: OutgoingRequest) => Promise<Message> {
  let discovery: Sent | undefined
  let isNewest = false
  return (outgoing) => {
    if (outgoing.method === 'server/discover') return discover(outgoing)
    if (outgoing.method !== 'initialize' || discovery === undefined) return messages.request(outgoing)
    return initialize(outgoing, discovery)
  }

  function discover(outgoing: OutgoingRequest): Promise<Message> {
    const sent = send(messages, outgoing)
    return new Promise((resolve, reject) => {
      outgoing.cancel.onCancel({
        cancelled() {
          const { reason } = outgoing.cancel
          if (reason instanceof McpError && reason.kind === 'timeout') discovery = sent
          else sent.cancel.abort(reason as Error)
          reject(reason as Error)
        },
      })
      sent.answer.then((answer) => {
        isNewest = offersNewest(answer)
        resolve(answer)
      }, reject)
    })
  }

  function initialize(outgoing: OutgoingRequest, late: Sent): Promise<Message> {
    discovery = undefined
    const data = { supported: [LATEST] }
    const newest = mcpError(REVISION_UNSUPPORTED, { version: 'of the handshake' }, { data })
    if (isNewest) return Promise.reject(newest)
    const sent = send(messages, outgoing)
    return new Promise((resolve, reject) => {
      outgoing.cancel.onCancel({ cancelled: () => sent.cancel.abort(outgoing.cancel.reason as Error) })
      late.answer.then(() => {
        if (!isNewest) return
        sent.cancel.abort(newest)
        reject(newest)
      }, ignore)
      sent.answer.then(resolve, reject).finally(() => late.cancel.abort(newest))
    })
  }
}

/** A request that only this module cancels. */
interface Sent {
  readonly answer: Promise<Message>
  readonly cancel: Deadline
}

function send(messages: MessageStream, outgoing: OutgoingRequest): Sent {
  const { method } = outgoing
  const cancel = new Deadline({ method, idleMs: Infinity, totalMs: Infinity, signal: undefined })
  return { answer: messages.request({ ...outgoing, cancel }), cancel }
}

function offersNewest({ result }: Message): boolean {
  const versions = result?.['supportedVersions']
  return Array.isArray(versions) && versions.includes(LATEST)
}

function ignore(): void {}
