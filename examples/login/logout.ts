import type { LoginMethod } from 'pierhead/auth/client'

/** Logs the user out of a server, and says what became of the tokens. */
export async function logOut(auth: LoginMethod, url: string): Promise<void> {
  for (const { issuer, revoked, reason } of await auth.logout(url))
    console.log(revoked ? `logged out at ${issuer}` : `logged out here only; ${issuer}: ${reason}`)
}
