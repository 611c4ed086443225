import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Limits } from '../../protocol/limits.ts'
import type { Service } from '../../rpc/service.ts'

/** An HTTP listener whose connections may be upgraded to another protocol. */
export interface UpgradeSource {
  readonly service: Service
  readonly limits: Limits
  /** Throws unless the request may be served. */
  check(request: IncomingMessage): void
  /** The address of the client, if known. */
  ipOf(request: IncomingMessage): string | undefined
  /** Replies with an error and closes the connection. */
  reject(
    request: IncomingMessage,
    socket: Duplex,
    thrown: unknown,
    headers?: Readonly<Record<string, string>>,
  ): void
}

/** Takes over connections that were upgraded. */
export interface UpgradeHandler {
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes them all, each after its pending requests are answered. */
  close(): Promise<void>
}
