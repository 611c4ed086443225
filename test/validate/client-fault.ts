import type { Revision } from '../../src/protocol/revisions.ts'
import type { Message } from '../../src/validate/message.ts'
import type { Transport } from '../../src/validate/rule.ts'
import type { Instead } from './fault.ts'

/** Things that the raw client can do wrong, where changing its messages is not enough. */
export type Quirk =
  | 'accepts any version'
  | 'asks before initialize'
  | 'asks too early'
  | 'answers at any revision'
  | 'answers notifications'
  | 'breaks on a blank line'
  | 'breaks on bad lines'
  | 'breaks on carriage returns'
  | 'breaks on comments'
  | 'breaks on stderr'
  | 'caches by method'
  | 'caches repeated requests'
  | 'caches without a lifetime'
  | 'calls tools with bad headers'
  | 'cancels initialize'
  | 'does not wait for tasks'
  | 'drops good tools'
  | 'ends at an empty cursor'
  | 'fetches references'
  | 'fetches URLs'
  | 'finishes cancelled tasks'
  | 'gives up on other versions'
  | 'gives up without a session'
  | 'has no tasks'
  | 'ignores batches'
  | 'ignores capabilities'
  | 'ignores ping'
  | 'ignores the endpoint'
  | 'kills programs'
  | 'knows header names in small letters only'
  | 'knows enum only'
  | 'listens again at once'
  | 'needs a mode'
  | 'never deletes'
  | 'never listens again'
  | 'never lists again'
  | 'never resumes'
  | 'opens with a batch'
  | 'reads only JSON'
  | 'reads only streams'
  | 'reads two pages'
  | 'reopens tasks'
  | 'repeats the version'
  | 'resumes at once'
  | 'resumes lost requests'
  | 'sends lost requests again with the same id'
  | 'skips initialized'
  | 'takes results of any type'
  | 'two requests with one id'
  | 'two requests with one token'
  | 'waits for a dead server'

/** Things that the raw client can do wrong when it logs in. */
export type LoginQuirk =
  | 'accepts any resource'
  | 'always asks for offline_access'
  | 'always has a document'
  | 'always registers'
  | 'asks for all scopes'
  | 'asks for no scopes'
  | 'asks for OpenID first'
  | 'asks the root first'
  | 'follows redirects with the token'
  | 'gives up scopes'
  | 'has another verifier'
  | 'has no application type'
  | 'has no PKCE'
  | 'has no state'
  | 'has one client id for all'
  | 'has plain PKCE'
  | 'has secrets in the body only'
  | 'has the token in the URL'
  | 'ignores iss'
  | 'ignores metadata'
  | 'ignores the header'
  | 'ignores the issuer of metadata'
  | 'ignores the state'
  | 'knows OAuth metadata only'
  | 'leaves resource out'
  | 'leaves resource out of the token request'
  | 'needs metadata'
  | 'needs no iss'
  | 'needs no PKCE'
  | 'never logs in'
  | 'never sends secrets'
  | 'never steps up'
  | 'refuses iss'
  | 'repeats its scopes'
  | 'sends the token to the issuer'
  | 'steps up for ever'

/** One thing that a client does wrong. Everything else is as the correct client does it. */
export interface ClientFault {
  /** The rule that it breaks. */
  readonly rule: string
  /** What it does, after "a client that". */
  readonly does: string
  /** Where it applies. Default: everywhere the rule does. */
  readonly revisions?: readonly Revision[] | undefined
  readonly transports?: readonly Transport[] | undefined
  /** Changes a message of the client. */
  message?(message: Message): Instead
  /** Changes the headers of an HTTP request. */
  headers?(
    headers: Readonly<Record<string, string>>,
    method: string,
    message: Message | undefined,
  ): Readonly<Record<string, string>>
  readonly quirk?: Quirk | undefined
  readonly login?: LoginQuirk | undefined
  /** A notification after which the client is of no use. */
  readonly breaksOn?: string | undefined
}
