import { clip } from '../../base/clip.ts'
import { oneLine } from '../../errors/printable.ts'

/** A reason why a login cannot go on. Its message contains no secrets, and text of a peer only escaped, so it can be shown. */
export class LoginProblem extends Error {}

/** A problem that may pass by itself: an issuer or a server cannot be reached, or is too busy. */
export class PassingProblem extends LoginProblem {}

/** A login that the person, or the program for the person, did not want. */
export class LoginRefused extends LoginProblem {}

/** A login of which the issuer says that the person did not want it. It may lie, so the login counts towards the limit. */
export class LoginDenied extends LoginRefused {}

/** Text of a peer for a message: short, in one line and in quotes. Of objects and lists only the type is shown, because they may be nested too deeply for JSON. */
export function quoted(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  const text = oneLine(JSON.stringify(value) ?? 'nothing')
  return text.length > 200 ? `${clip(text, 200)}…` : text
}

/** A URL for a message, without its query, which may hold a secret. */
export function shownUrl({ origin, protocol, pathname }: URL): string {
  return origin === 'null' ? quoted(protocol) : `${origin}${clip(pathname, 200)}`
}
