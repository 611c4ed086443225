import { lookup } from 'node:dns'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { checkedLookup, type Resolver } from '../checked-lookup.ts'
import { fromRaw } from '../../transport/http/client/raw-headers.ts'
import type { OpenReply, Pinned } from './open-reply.ts'
import { parseUrl } from '../../protocol/url.ts'

/** Opens connections whose addresses can be checked. Each name is resolved once, and the connection goes to what was found. */
export const pinned: Pinned = {
  resolve: (hostname, resolver: Resolver = lookup) =>
    new Promise((resolve) => {
      resolver(hostname, { all: true }, (error, found) =>
        resolve(error === null ? found.map(({ address }) => address) : []),
      )
    }),
  lookup: (faultOf, resolver: Resolver = lookup) => checkedLookup(resolver, faultOf),
  async send(request, { faultOf, signal, resolver = lookup }) {
    const url = parseUrl(request.url)
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    // A reply that is not compressed has the size that is counted.
    const headers = { 'user-agent': 'pierhead', ...headersOf(request), 'accept-encoding': 'identity' }
    return new Promise((resolve, reject) => {
      const options = { method: request.method, headers, agent: false, signal }
      const sent = send(url, { ...options, lookup: checkedLookup(resolver, faultOf) }, (reply) => {
        // Nobody else catches what is thrown here, and the process would end.
        try {
          resolve(toReply(reply))
        } catch (error) {
          reject(error as Error)
          reply.destroy()
        }
      })
      // Nobody asked for another protocol.
      sent.once('upgrade', (_, socket) => {
        socket.destroy()
        reject(new Error('the reply has the status 101'))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  },
}

function headersOf({ headers }: Request): Record<string, string> {
  return Object.fromEntries(headers)
}

function toReply(reply: IncomingMessage): OpenReply {
  const headers = fromRaw(reply.rawHeaders)
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity')
    throw new Error('the reply is compressed, although the request asked for one that is not')
  return { status: reply.statusCode ?? 0, headers, chunks: reply, cancel: () => reply.destroy() }
}
