/** The codes of errors that an authorization server replies with (RFC 6749, 7009, 7591, 8707 and OpenID Connect). */
export type OAuthCode =
  | 'access_denied'
  | 'interaction_required'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'request_not_supported'
  | 'temporarily_unavailable'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

/** An error that the client is told: a code for programs, and a sentence that says how to fix it. */
export class OAuthError extends Error {
  readonly code: OAuthCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: OAuthCode,
    message: string,
    status: number = 400,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.code = code
    this.status = status
    this.headers = headers
  }
}

/** The description of an error in the characters that RFC 6749 allows for it. */
export function descriptionOf({ message }: OAuthError): string {
  return message.replaceAll('"', "'").replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
