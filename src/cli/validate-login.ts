import { platformFetch } from '#fetch'
import type { AuthReply } from 'pierhead/auth/client'
import type { Invocation } from './command.ts'
import { EXIT } from './exit.ts'
import { Failure } from './failure.ts'
import { safeLine } from './safe-text.ts'
import { shellWord } from './shell-word.ts'
import { storedMethod } from './stored-auth.ts'
import { redactedUrl } from './redaction.ts'
import { parseUrl } from '../protocol/url.ts'
import type { Checked } from './validate-doors.ts'

/** How long to wait for the server and its issuer. */
const LOGIN_MS = 10_000

/**
 * The header with the token of the stored login of a URL, renewed if that is necessary; undefined if there is none that can be used. Nobody is
 * asked to log in: a server without a token can be checked too, in part.
 */
export async function storedHeader(address: string, { io, output }: Invocation): Promise<string | undefined> {
  const { method, isLoggedIn } = await storedMethod(address, true, io, output)
  if (!isLoggedIn) return undefined
  const url = parseUrl(address)
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(LOGIN_MS)])
  const login = method.open({ url, warn: (text) => output.warn(safeLine(text, 500)) })
  let found: Readonly<Record<string, string>> = {}
  try {
    const httpUrl = parseUrl(address.replace(/^ws(?=s?:)/i, 'http'))
    const reply = await login.attempt<AuthReply>({ verb: 'POST', url: httpUrl, signal }, async (headers) => {
      found = headers
      // A WebSocket has no single request that could test the token.
      return httpUrl.protocol === url.protocol ? tried(url, headers, signal) : ACCEPTED
    })
    await reply.body?.cancel()
  } catch (error) {
    io.signal.throwIfAborted()
    output.warn(`the stored login cannot be used: ${safeLine((error as Error).message, 500)}`)
    return undefined
  } finally {
    login.close?.()
  }
  const token = Object.entries(found).find(([name]) => name.toLowerCase() === 'authorization')?.[1]
  output.hide([token])
  if (token === undefined || /^Bearer /i.test(token)) return token
  output.warn('the stored login is bound to a key, and the validator cannot use it')
  return undefined
}

const ACCEPTED = { status: 200, headers: { get: () => null } }

/** A request that changes nothing, to see whether the server accepts the token. */
function tried(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
  return platformFetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    redirect: 'manual',
    signal,
  })
}

/** The failure for a target that wants a token and got none, or rejects the one that it got; undefined if it answered. */
export function tokenNeeded({ label, address, outcomes, places }: Checked): Failure | undefined {
  const place = places.find(({ refused }) => refused !== undefined)
  if (place === undefined || places.some(({ revisions }) => revisions.length > 0)) return undefined
  const where = address === undefined ? label : redactedUrl(address)
  const isRejected = (place.problem ?? '').includes('rejects the token')
  const login = `pierhead auth login ${shellWord(where)}`
  const checked = outcomes.length === 0 ? 'nothing was' : 'only the rules about authorization were'
  return new Failure(`${label}: ${place.problem ?? ''}, so ${checked} checked`, {
    exit: EXIT.auth,
    hint: isRejected
      ? `It has expired, was revoked or is for another server: put a new one into PIERHEAD_TOKEN or --header, or leave them out and log in again with ${login}; then validate again.`
      : `Log in with ${login}, set PIERHEAD_TOKEN to a token, or pass --header 'Authorization: Bearer …'; then validate again.`,
  })
}
