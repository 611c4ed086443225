import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Auth } from '../../../rpc/call.ts'
import { certificateThumbprint } from '../../tls/thumbprint.ts'
import type { HttpHead } from './parts.ts'
import { readForwarded, type Forwarded, type Trust } from './proxy.ts'
import { readAddress } from '../../../base/address.ts'

/** A request that a framework may have processed: body parsed, caller authenticated. */
export type NodeRequest = IncomingMessage & {
  readonly body?: unknown
  auth?: Auth | undefined
  /** The owner of the client certificate, on our own listener. */
  certified?: Auth | undefined
  /** The full URL; frameworks remove the mount path from `url`. */
  readonly originalUrl?: string
}

/** The head of a Node request, read lazily. */
export class NodeHead implements HttpHead {
  cors: HttpHead['cors'] = undefined
  readonly request: NodeRequest
  readonly #headers: IncomingMessage['headers']
  readonly #trusts: Trust | undefined
  #forwarded: Forwarded | undefined
  /** The headers that it has twice, once that is known. */
  #repeated: number | undefined

  constructor(request: NodeRequest, trusts: Trust | undefined) {
    this.request = request
    this.#headers = request.headers
    this.#trusts = trusts
  }

  get method(): string {
    return this.request.method ?? ''
  }

  get target(): string {
    return targetOf(this.request)
  }

  get scheme(): string {
    const isSecure = (this.request.socket as Partial<TLSSocket> | undefined)?.encrypted === true
    return this.#readForwarded()?.scheme ?? (isSecure ? 'https' : 'http')
  }

  get ip(): string | undefined {
    return this.#trusts === undefined ? addressOf(this.request) : this.#readForwarded()?.ip
  }

  get certificate(): string | undefined {
    return certificateThumbprint(this.request.socket)
  }

  headers(): Readonly<Record<string, string>> {
    // In HTTP/2, the method, path and host are among the headers, with a colon before their names.
    const all = Object.entries(this.#headers).filter(([name]) => !name.startsWith(':'))
    return Object.fromEntries(all.map(([name, value]) => [name, String(value)]))
  }

  header(name: string): string | undefined {
    if (name === 'host') return this.#readForwarded()?.host ?? this.#host()
    if (name === 'authorization' && this.#isRepeated(AUTHORIZATION)) return 'Bearer two of them'
    // Others may ask for any name, and the headers have a prototype.
    const value = Object.hasOwn(this.#headers, name) ? this.#headers[name] : undefined
    return typeof value === 'object' ? value.join(', ') : value
  }

  /** The Host header, or what HTTP/2 has instead. */
  #host(): string | undefined {
    if (this.#isRepeated(HOST)) return 'two of them'
    return this.#headers.host ?? (this.#headers[':authority'] as string | undefined)
  }

  /** Node keeps the first of several headers, so duplicates of those that decide about access are made invalid. */
  #isRepeated(header: number): boolean {
    return ((this.#repeated ??= repeatedIn(this.request)) & header) !== 0
  }

  /** What trusted proxies say; undefined if none is trusted. */
  #readForwarded(): Forwarded | undefined {
    if (this.#trusts === undefined) return undefined
    const header = (name: string): string | undefined => this.header(name)
    return (this.#forwarded ??= readForwarded(this.#trusts, addressOf(this.request), header))
  }
}

/** The address at the other end of the connection; undefined on a socket file, or once it is closed. */
function addressOf({ socket }: IncomingMessage): string | undefined {
  return readAddress((socket as Partial<TLSSocket> | undefined)?.remoteAddress)
}

/** The path and query, as the client sent them. */
export function targetOf({ originalUrl, url = '' }: NodeRequest): string {
  return originalUrl ?? url
}

/** The body that the framework passed or left on the request, or else the stream to read it from. */
export function bodyOf(request: NodeRequest, passed: unknown): unknown {
  // Express passes `next` where others pass the body.
  if (passed !== undefined && typeof passed !== 'function') return passed
  // Some parsers leave an empty object even if they did not read the body.
  if (request.body === undefined || request.readableDidRead === false) return request
  return request.body
}

/** Whether a body is still to be read. */
export function isStream(body: unknown): body is Readable {
  return typeof (body as Partial<Readable> | null)?.pipe === 'function'
}

const HOST = 1
const AUTHORIZATION = 2

/** Which headers a request has twice. Every request is asked, so all are found in one pass. */
function repeatedIn({ rawHeaders }: IncomingMessage): number {
  let found = 0
  let repeated = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = bitOf(rawHeaders[at] as string)
    repeated |= found & header
    found |= header
  }
  return repeated
}

/** Most clients spell names in one of two ways; converting the others takes more time. */
function bitOf(name: string): number {
  if (name.length === 4) return name === 'Host' || name.toLowerCase() === 'host' ? HOST : 0
  if (name.length !== 13) return 0
  return name === 'Authorization' || name.toLowerCase() === 'authorization' ? AUTHORIZATION : 0
}
