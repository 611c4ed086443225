import { McpError } from '../errors/error.ts'

/** Rejects a request, before it is sent, on a connection that belongs to another login. */
export class OtherLogin extends McpError {
  constructor() {
    super('session_lost', 'the credentials changed, so a new connection is opened')
  }
}

/** The login that a connection or session belongs to, once it is known. */
export interface Bound {
  login?: string | undefined
}
