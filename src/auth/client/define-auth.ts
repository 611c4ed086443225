import { callable, required, TEXT, type KindsOf } from '../../base/kinds.ts'
import { checkOptions } from '../../base/options.ts'
import type { AuthOwner } from '../../rpc/logins.ts'
import type { ClientAuth } from '../../transport/http/client/auth-method.ts'
import { ClientLogins } from './logins.ts'

type OwnAuth = Pick<ClientAuth, 'name' | 'open'>

const OWN_AUTH: KindsOf<OwnAuth> = {
  name: required(TEXT),
  open: required(callable<OwnAuth['open']>()),
}

/**
 * Creates a method of your own, for the option `auth` of clients. It adds the code that all methods share, so that clients without one
 * load none of it.
 *
 * @example
 * const open = () => ({ attempt: (request, send) => send({ 'x-api-key': key }) })
 * await connect('https://mcp.example/mcp', { auth: defineAuth({ name: 'apiKey', open }) })
 */
export function defineAuth(own: Pick<ClientAuth, 'name' | 'open'>): ClientAuth {
  checkOptions<OwnAuth>('defineAuth', own, OWN_AUTH)
  return {
    name: own.name,
    open: (server) => own.open(server),
    logins: (owner) => new ClientLogins(owner as AuthOwner),
  }
}
