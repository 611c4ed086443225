import {
  allowInsecureRequests,
  customFetch,
  dynamicClientRegistrationRequest,
  OperationProcessingError,
  processDynamicClientRegistrationResponse,
  ResponseBodyError,
  type OmitSymbolProperties,
  type Client,
} from 'oauth4webapi'
import { isObject } from '../../protocol/jsonrpc.ts'
import { secondsAfter } from './expiry.ts'
import type { GrantContext } from './grant.ts'
import { LoginProblem, quoted } from './problem.ts'
import type { StoredRegistration } from './vault.ts'
import { parseUrl } from '../../protocol/url.ts'

/** How a client can be known to issuers. */
export interface ClientDescription {
  /** The id that an issuer gave the client beforehand. */
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  /** The URL of a document that describes the client; issuers that support it take the URL as the id. */
  readonly clientMetadataUrl: string | undefined
  /** The name that users see when they are asked for consent. */
  readonly clientName: string
}

type Context = Pick<
  GrantContext,
  'issuer' | 'registration' | 'fetch' | 'allowsHttp' | 'signal' | 'step' | 'keepRegistration'
>

/**
 * Finds the id of the client at an issuer: the one that was given, else a document, else a stored registration, else a new one
 * (RFC 7591).
 */
export async function findRegistration(
  context: Context,
  identity: ClientDescription,
  redirectUri: string,
): Promise<StoredRegistration> {
  const { issuer, registration, step } = context
  const { clientId, clientSecret, clientMetadataUrl } = identity
  if (clientId !== undefined) {
    step('use the client id of the options')
    return { clientId, clientSecret }
  }
  if (clientMetadataUrl !== undefined && issuer['client_id_metadata_document_supported'] === true) {
    step(`use ${clientMetadataUrl} as the client id`)
    return { clientId: clientMetadataUrl, authMethod: 'none' }
  }
  if (registration !== undefined && isFit(registration, redirectUri)) {
    step(`use the client id that ${issuer.issuer} gave this client before`)
    return registration
  }
  if (issuer.registration_endpoint === undefined) throw unregistered(issuer.issuer, clientMetadataUrl)
  step(`register at ${issuer.registration_endpoint}`)
  const registered = await register(context, identity, redirectUri)
  await context.keepRegistration?.(registered)
  return registered
}

function unregistered(issuer: string, document: string | undefined): LoginProblem {
  const attempted = document === undefined ? '' : ', nor does it support client metadata documents'
  return new LoginProblem(
    `${issuer} does not let clients register themselves${attempted}; ask its operator for a client id, and pass it as the option clientId`,
  )
}

/** Whether a registration still counts, for the redirect URI that is used now. */
function isFit({ expiresAt, redirectUris }: StoredRegistration, redirectUri: string): boolean {
  if (expiresAt !== undefined && expiresAt <= Date.now()) return false
  return redirectUris?.includes(redirectUri) === true
}

async function register(
  context: Context,
  { clientName }: ClientDescription,
  redirectUri: string,
): Promise<StoredRegistration> {
  const { issuer, fetch, allowsHttp, signal } = context
  const metadata: Readonly<Record<string, string | string[]>> = {
    client_name: clientName,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: chooseMethod(issuer.token_endpoint_auth_methods_supported),
    application_type: typeOf(redirectUri),
  }
  try {
    const response = await dynamicClientRegistrationRequest(issuer, metadata as Metadata, {
      [customFetch]: (url, request) => fetch(url, request as RequestInit),
      [allowInsecureRequests]: allowsHttp,
      signal,
    })
    const reply = await withDefaults(response)
    return toStored(await processDynamicClientRegistrationResponse(reply), redirectUri)
  } catch (thrown) {
    signal.throwIfAborted()
    throw toProblem(thrown, issuer.registration_endpoint as string)
  }
}

type Metadata = Parameters<typeof dynamicClientRegistrationRequest>[1]

/** Many issuers reply with 200, although RFC 7591 says 201, and do not say that their secrets never expire. */
async function withDefaults(response: Response): Promise<Response> {
  if (response.status !== 200 && response.status !== 201) return response
  const text = await response.text()
  const { headers } = response
  return new Response(withExpiry(text), { status: 201, headers })
}

function withExpiry(text: string): string {
  try {
    const client: unknown = JSON.parse(text)
    return isObject(client) ? JSON.stringify({ client_secret_expires_at: 0, ...client }) : text
  } catch {
    return text
  }
}

function toStored(client: OmitSymbolProperties<Client>, redirectUri: string): StoredRegistration {
  const {
    client_secret: secret,
    client_secret_expires_at: seconds,
    token_endpoint_auth_method: method,
  } = client
  return {
    clientId: client.client_id,
    ...(typeof secret === 'string' && { clientSecret: secret }),
    ...(typeof method === 'string' && { authMethod: method }),
    ...(typeof seconds === 'number' && seconds > 0 && { expiresAt: secondsAfter(0, seconds) }),
    redirectUris: [redirectUri],
  }
}

/** A program on the computer of its user cannot keep a secret, so it asks for none where that is possible. */
function chooseMethod(supported: unknown): string {
  if (!Array.isArray(supported) || supported.includes('none')) return 'none'
  const known = ['client_secret_basic', 'client_secret_post'].find((method) => supported.includes(method))
  return known ?? 'none'
}

/** Whether the client is an app on the computer of its user, or a web site. Issuers allow each other redirect URIs. */
function typeOf(redirectUri: string): 'native' | 'web' {
  const { protocol } = parseUrl(redirectUri)
  return protocol === 'https:' ? 'web' : 'native'
}

function toProblem(thrown: unknown, endpoint: string): unknown {
  if (thrown instanceof ResponseBodyError) {
    const { error, error_description: description, status } = thrown
    const reason = description === undefined ? quoted(error) : `${quoted(error)}, ${quoted(description)}`
    return new LoginProblem(`${endpoint} rejected the registration with status ${status}: ${reason}`)
  }
  if (!(thrown instanceof OperationProcessingError)) return thrown
  const reason =
    thrown.cause instanceof Response ? `replied with status ${thrown.cause.status}` : 'sent an invalid reply'
  return new LoginProblem(
    `${endpoint} ${reason} to the registration; ask its operator for a client id, and pass it as the option clientId`,
  )
}
