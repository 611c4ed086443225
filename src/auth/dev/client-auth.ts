import type { Client } from './clients.ts'
import type { Form } from './form.ts'
import { findClient, type Issuer } from './issuer.ts'
import { OAuthError } from './oauth-error.ts'
import { digestOf, isSame } from '../digests.ts'

interface Credentials {
  readonly id: string
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
  const client = await lookUp(issuer, id)
  if (method !== client.authMethod)
    throw rejected(`this client must authenticate with the method ${client.authMethod}`)
  if (client.secret !== undefined && !isSame(client.secret, await digestOf(secret ?? '')))
    throw rejected('the secret of the client is wrong')
  return client
}

async function lookUp(issuer: Issuer, id: string): Promise<Client> {
  if (id === issuer.introspector.id) return issuer.introspector
  return findClient(issuer, id).catch((error: unknown) => {
    throw error instanceof OAuthError ? rejected(error.message) : error
  })
}

function readCredentials(authorization: string | null, form: Form): Credentials {
  const secret = form.get('client_secret')
  if (authorization === null) {
    const method = secret === undefined ? 'none' : 'client_secret_post'
    return { id: form.need('client_id'), secret, method }
  }
  const basic = readBasic(authorization)
  if (basic === undefined) throw rejected('the Authorization header must be Basic with the id and the secret')
  if (secret !== undefined)
    throw new OAuthError('invalid_request', 'the client authenticates in two ways; use one')
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

function rejected(message: string): OAuthError {
  return new OAuthError('invalid_client', message, 401, { 'www-authenticate': 'Basic realm="devAuth"' })
}
