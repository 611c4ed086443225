import type { Client } from './clients.ts'
import type { Form } from './form.ts'
import { findClient, type Issuer } from './issuer.ts'
import { PATHS } from './discovery.ts'
import { isDocumentId, undescribed } from './documents.ts'
import { OAuthError } from './oauth-error.ts'
import { ASSERTION_TYPE, claimedClient } from './services.ts'
import { digestOf, isSame } from '../digests.ts'

interface Credentials {
  readonly id: string
  /** Its secret, or the assertion that it signed. */
  readonly secret: string | undefined
  readonly method: Client['authMethod']
}

/** The client that sends a request to the token, revocation or introspection endpoint. Throws if it does not authenticate. */
export async function authenticateClient(
  issuer: Issuer,
  authorization: string | null,
  form: Form,
): Promise<Client> {
  const { id, secret, method } = readCredentials(authorization, form)
  const service = issuer.services.get(id)
  if (service !== undefined && method === 'private_key_jwt') {
    const audience = [issuer.url, issuer.url + PATHS.token]
    if (await issuer.services.accepts(service, secret ?? '', audience)) return service
    throw rejected('the assertion is not signed by a key of this client for this issuer, or was used before')
  }
  const client = service ?? (await lookUp(issuer, id))
  const isSecret = method === 'client_secret_post' && service?.secret !== undefined
  if (method !== client.authMethod && !isSecret)
    throw rejected(`this client must authenticate with the method ${client.authMethod}`)
  if (client.secret !== undefined && !isSame(client.secret, await digestOf(secret ?? '')))
    throw rejected('the secret of the client is wrong')
  return client
}

async function lookUp(issuer: Issuer, id: string): Promise<Client> {
  if (id === issuer.introspector.id) return issuer.introspector
  if (isDocumentId(id)) return undescribed(id)
  return findClient(issuer, id).catch((error: unknown) => {
    throw error instanceof OAuthError ? rejected(error.message) : error
  })
}

function readCredentials(authorization: string | null, form: Form): Credentials {
  const secret = form.get('client_secret')
  const assertion = form.get('client_assertion')
  if (assertion !== undefined) {
    if (authorization !== null || secret !== undefined) throw twice()
    if (form.need('client_assertion_type') !== ASSERTION_TYPE)
      throw new OAuthError('invalid_request', `client_assertion_type must be ${ASSERTION_TYPE}`)
    const id = form.get('client_id') ?? claimedClient(assertion) ?? form.need('client_id')
    return { id, secret: assertion, method: 'private_key_jwt' }
  }
  if (authorization === null) {
    const method = secret === undefined ? 'none' : 'client_secret_post'
    return { id: form.need('client_id'), secret, method }
  }
  const basic = readBasic(authorization)
  if (basic === undefined) throw rejected('the Authorization header must be Basic with the id and the secret')
  if (secret !== undefined) throw twice()
  if ((form.get('client_id') ?? basic.id) !== basic.id)
    throw new OAuthError('invalid_request', 'client_id differs from the id in the Authorization header')
  return { ...basic, method: 'client_secret_basic' }
}

/** Reads the header that RFC 6749, section 2.3.1, describes: both parts are encoded as in forms. */
function readBasic(authorization: string): { readonly id: string; readonly secret: string } | undefined {
  const [, encoded] = /^basic ([a-z0-9+/]+=*)$/i.exec(authorization) ?? []
  if (encoded === undefined) return undefined
  try {
    const text = atob(encoded)
    const [, id = '', secret = ''] = /^([^:]*):(.*)$/s.exec(text) ?? []
    return { id: decode(id), secret: decode(secret) }
  } catch {
    return undefined
  }
}

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

function twice(): OAuthError {
  return new OAuthError('invalid_request', 'the client authenticates in two ways; use one')
}

function rejected(message: string): OAuthError {
  return new OAuthError('invalid_client', message, 401, { 'www-authenticate': 'Basic realm="devAuth"' })
}
