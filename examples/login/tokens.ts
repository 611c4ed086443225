import { token, type ClientAuth } from 'pierhead/auth/client'
import type { Client } from 'pierhead/client'

/** A login that another library manages. */
export interface Session {
  readonly token: string
  renew(): Promise<string>
}

/** Sends the token of a session, and renews it once if the server rejects it. */
export function tokenOf(session: Session): ClientAuth {
  return token(({ rejected }) => (rejected === undefined ? session.token : session.renew()))
}

/** Asks for one of many users. */
export function whoIs(notes: Client, user: Session): Promise<unknown> {
  return notes.call('whoami', {}, { auth: tokenOf(user) })
}
