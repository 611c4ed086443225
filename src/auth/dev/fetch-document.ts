import { lookup } from 'node:dns'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { isLoopback } from '../../base/loopback.ts'
import { placeOf } from '../../base/places.ts'
import { checkedLookup, type Resolver } from '../checked-lookup.ts'

/** A document as it was fetched. */
export interface Fetched {
  readonly text: string
  /** The `Cache-Control` header. */
  readonly cacheControl: string | undefined
}

const MAX_BYTES = 5_120
const TIMEOUT_MS = 5_000

/**
 * Fetches the metadata document of a client. The URL comes from whoever opens the login page, so it must not reach this
 * computer's network: only names of this computer may resolve to it, and redirects are not followed.
 */
export function fetchDocument(url: URL, resolver: Resolver = lookup): Promise<Fetched> {
  const isLocal = isLoopback(url.hostname)
  const allowed = isLocal ? 'loopback' : 'public'
  const faultOf = (address: string): Error | undefined =>
    placeOf(address) === allowed ? undefined : new Error(`its address ${address} is not public`)
  const literal = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const fault = isIP(literal) === 0 ? undefined : faultOf(literal)
  if (fault !== undefined) return Promise.reject(fault)
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const options = {
      lookup: checkedLookup(resolver, faultOf),
      agent: false,
      headers: { accept: 'application/json' },
      // Certificates for development have no authority, and the connection does not leave this computer.
      rejectUnauthorized: !isLocal,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }
    const sent = send(url, options, (reply) => {
      readReply(reply).then(resolve, (error: unknown) => {
        reply.destroy()
        reject(error instanceof Error ? error : new Error(String(error)))
      })
    })
    sent.on('error', (error) => reject(error.name === 'AbortError' ? late() : error))
    sent.end()
  })
}

async function readReply(reply: IncomingMessage): Promise<Fetched> {
  const { statusCode, headers } = reply
  if (statusCode !== 200) throw new Error(`its server replied with status ${statusCode}, not 200`)
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';')
  if (!/^application\/(json|[\w.-]+\+json)$/.test(type.trim())) throw new Error('its type is not JSON')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`it is longer than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return { text: Buffer.concat(chunks).toString('utf8'), cacheControl: headers['cache-control'] }
}

function late(): Error {
  return new Error(`its server took longer than ${TIMEOUT_MS} ms`)
}
