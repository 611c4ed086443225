import type { App } from 'pierhead'
import type { Revision } from '../../src/protocol/revisions.ts'
import { open, type Client, type OpenOptions } from '../harness/client.ts'
import type { AnyApp } from '../harness/connection.ts'

interface CallerOptions extends Omit<OpenOptions, 'transport' | 'revision'> {
  /** Whom the transport vouches for. */
  readonly sub?: string
}

/** A client in the same process. */
export function callerOf(
  app: AnyApp,
  revision: Revision,
  { sub, ...options }: CallerOptions = {},
): Promise<Client> {
  const connect: App['connect'] = (given) =>
    app.connect(sub === undefined ? given : { ...given, auth: { sub } })
  return open({ connect } as AnyApp, { transport: 'memory', revision, ...options })
}
